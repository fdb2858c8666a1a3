//! A model server for tests: it says what a scenario tells it to and keeps what it was asked.
