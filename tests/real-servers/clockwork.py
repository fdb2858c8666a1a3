"""Writes a tiny model for llama.cpp that says fixed texts: clockwork.py FILE.

The weights are a table from a token to the one that follows it, so a real server with its real templates, grammars and
errors plays a script, and no model has to be fetched. The chat template chooses the script by `[[NAME]]` in the prompt.
"""
import sys

import gguf
import numpy as np

CALL = '<tool_call>\n{"name": "read", "arguments": {"path": "notes.txt"}}\n</tool_call>'
SCRIPTS = {
    "hello": "Hello from the clockwork.",
    "think": "<think>\nFirst I weigh it.\n</think>\n\nThe answer is forty-two.",
    "tool": CALL,
    "done": "Nothing else stands in your notes.",
}
TEMPLATE = """{%- set ns = namespace(script='hello') -%}
{%- if tools %}{{- '<|im_start|>system\\n# Tools\\n<tools>' }}{%- for tool in tools %}{{- '\\n' + (tool | tojson) }}{%- endfor %}
{{- '\\n</tools>\\nA call is a JSON object inside <tool_call></tool_call>:\\n<tool_call>\\n{"name": <function-name>, "arguments": <args-json-object>}\\n</tool_call><|im_end|>\\n' }}{%- endif %}
{%- for message in messages %}
{%- if message.role == 'user' %}{%- for name in ['think', 'tool'] %}{%- if '[[' + name + ']]' in message.content %}{%- set ns.script = name %}{%- endif %}{%- endfor %}{%- endif %}
{%- if message.role == 'tool' %}{%- set ns.script = 'done' %}{%- endif %}
{{- '<|im_start|>' + message.role + '\\n' }}{%- if message.content %}{{- message.content }}{%- endif %}
{%- for call in message.tool_calls or [] %}{{- '<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + '}\\n</tool_call>' }}{%- endfor %}
{{- '<|im_end|>\\n' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n<|script:' + ns.script + '|>' }}{%- endif %}"""

CONTEXT, WIDTH, HIDDEN, HEADS = 65536, 512, 32, 8
CONTROL, NORMAL, UNKNOWN, BYTE = 3, 1, 2, 6


def pieces(text, taken):
    """Cuts a text into pieces that no other script has, for a token has but one that follows it."""
    found, at = [], 0
    while at < len(text):
        ends = [end for end in range(at + 3, len(text) + 1) if text[at:end] not in taken and len(text) - end not in (1, 2)]
        found.append(text[at : ends[0]])
        taken.add(found[-1])
        at = ends[0]
    return found


def tokens():
    """The vocabulary, and which token follows which."""
    words = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("<|im_end|>", CONTROL), ("<|im_start|>", CONTROL)]
    words += [(f"<0x{byte:02X}>", BYTE) for byte in range(256)]
    follows, taken = {}, set()
    for name, text in SCRIPTS.items():
        said = [(f"<|script:{name}|>", CONTROL)] + [(piece.replace(" ", "\u2581"), NORMAL) for piece in pieces(text, taken)]
        first = len(words)
        words += said
        follows |= {token: token + 1 for token in range(first, len(words) - 1)}
        follows[len(words) - 1] = 2
    return words, follows


def main():
    words, follows = tokens()
    embedding, output = np.zeros((len(words), WIDTH), np.float16), np.zeros((len(words), WIDTH), np.float16)
    for token in range(len(words)):
        embedding[token, token] = 1
        output[follows.get(token, 2), token] = 1
    file = gguf.GGUFWriter(sys.argv[1], "llama")
    file.add_context_length(CONTEXT)
    file.add_embedding_length(WIDTH)
    file.add_block_count(1)
    file.add_feed_forward_length(HIDDEN)
    file.add_head_count(HEADS)
    file.add_head_count_kv(1)
    file.add_layer_norm_rms_eps(1e-6)
    file.add_rope_dimension_count(WIDTH // HEADS)
    file.add_vocab_size(len(words))
    file.add_tokenizer_model("llama")
    file.add_token_list([word.encode() for word, _ in words])
    file.add_token_scores([-float(token) for token in range(len(words))])
    file.add_token_types([kind for _, kind in words])
    file.add_bos_token_id(1)
    file.add_eos_token_id(2)
    file.add_unk_token_id(0)
    file.add_add_bos_token(False)
    file.add_add_space_prefix(False)
    file.add_chat_template(TEMPLATE)
    file.add_tensor("token_embd.weight", embedding)
    file.add_tensor("output.weight", output)
    file.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    for norm in ("attn_norm", "ffn_norm"):
        file.add_tensor(f"blk.0.{norm}.weight", np.ones(WIDTH, np.float32))
    head = WIDTH // HEADS
    # The layer adds nothing: what comes out depends on the last token only.
    for name, rows, columns in [
        ("attn_q", WIDTH, WIDTH), ("attn_k", head, WIDTH), ("attn_v", head, WIDTH), ("attn_output", WIDTH, WIDTH),
        ("ffn_gate", HIDDEN, WIDTH), ("ffn_up", HIDDEN, WIDTH), ("ffn_down", WIDTH, HIDDEN),
    ]:
        file.add_tensor(f"blk.0.{name}.weight", np.zeros((rows, columns), np.float16))
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


main()
