"""The families' turns against what their official chat templates write.

Each expected text was compared with the output of the family's template for the same conversation. Templates that add a
preamble of their own (a date, a name, rules of conduct) were compared from the user's first turn on; these are
`WITHOUT_PREAMBLE`.
"""

from __future__ import annotations

import pytest

from wieldy.core.calls import ToolCall, ToolDefinition, ToolResult
from wieldy.core.messages import Message
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.turns.turns import ReplyPlace, Turns

PLAIN = (
    Message.system("You are helpful."),
    Message.user("Hi there."),
    Message.assistant("Hello."),
    Message.user("Bye."),
)

WHOLE = (
    (
        "HERMES",
        "@",
        (
            "<|im_start|>system\nYou are helpful.<|im_end|>\n<|im_start|>user\nHi there.<|im_end|>\n<|im_st"
            "art|>assistant\nHello.<|im_end|>\n<|im_start|>user\nBye.<|im_end|>\n<|im_start|>assistant\n"
        ),
    ),
    (
        "QWEN3_CODER",
        "@",
        (
            "<|im_start|>system\nYou are helpful.<|im_end|>\n<|im_start|>user\nHi there.<|im_end|>\n<|im_st"
            "art|>assistant\nHello.<|im_end|>\n<|im_start|>user\nBye.<|im_end|>\n<|im_start|>assistant\n"
        ),
    ),
    (
        "QWEN3_5",
        "@",
        (
            "<|im_start|>system\nYou are helpful.<|im_end|>\n<|im_start|>user\nHi there.<|im_end|>\n<|im_st"
            "art|>assistant\nHello.<|im_end|>\n<|im_start|>user\nBye.<|im_end|>\n<|im_start|>assistant\n<thi"
            "nk>\n"
        ),
    ),
    (
        "NEMOTRON_3",
        "<think></think>@",
        (
            "<|im_start|>system\nYou are helpful.<|im_end|>\n<|im_start|>user\nHi there.<|im_end|>\n<|im_st"
            "art|>assistant\n<think></think>Hello.<|im_end|>\n<|im_start|>user\nBye.<|im_end|>\n<|im_start|"
            ">assistant\n<think>\n"
        ),
    ),
    (
        "STEP_3_5",
        "@",
        (
            "<｜begin▁of▁sentence｜><|im_start|>system\nYou are helpful.<|im_end|>\n<|im_start|>user\nHi the"
            "re.<|im_end|>\n<|im_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\nBye.<|im_end|>\n<|im_"
            "start|>assistant\n<think>\n"
        ),
    ),
    (
        "MINICPM_5",
        "@",
        (
            "<s><|im_start|>system\nYou are helpful.<|im_end|>\n<|im_start|>user\nHi there.<|im_end|>\n<|im"
            "_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\nBye.<|im_end|>\n<|im_start|>assistant\n"
        ),
    ),
    (
        "LFM2",
        "@",
        (
            "<|startoftext|><|im_start|>system\nYou are helpful.<|im_end|>\n<|im_start|>user\nHi there.<|i"
            "m_end|>\n<|im_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\nBye.<|im_end|>\n<|im_start|"
            ">assistant\n"
        ),
    ),
    (
        "INTERNLM",
        "@",
        (
            "<s><|im_start|>system\nYou are helpful.<|im_end|>\n<|im_start|>user\nHi there.<|im_end|>\n<|im"
            "_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\nBye.<|im_end|>\n<|im_start|>assistant\n"
        ),
    ),
    (
        "XLAM_QWEN",
        "@",
        (
            "<|im_start|>system\nYou are helpful.\n<|im_end|><|im_start|>user\nHi there.<|im_end|><|im_sta"
            "rt|>assistant\nHello.<|im_end|><|im_start|>user\nBye.<|im_end|><|im_start|>assistant\n"
        ),
    ),
    (
        "LLAMA_4",
        "@",
        (
            "<|begin_of_text|><|header_start|>system<|header_end|>\n\nYou are helpful.<|eot|><|header_sta"
            "rt|>user<|header_end|>\n\nHi there.<|eot|><|header_start|>assistant<|header_end|>\n\nHello.<|e"
            "ot|><|header_start|>user<|header_end|>\n\nBye.<|eot|><|header_start|>assistant<|header_end|>"
            "\n\n"
        ),
    ),
    ("MISTRAL_V3", " @", "<s>[INST] Hi there.[/INST] Hello.</s>[INST] You are helpful.\n\nBye.[/INST]"),
    ("MISTRAL_V3_TEKKEN", "@", "<s>[INST]Hi there.[/INST]Hello.</s>[INST]You are helpful.\n\nBye.[/INST]"),
    (
        "MISTRAL_V7_SPACED",
        " @",
        ("<s>[SYSTEM_PROMPT] You are helpful.[/SYSTEM_PROMPT][INST] Hi there.[/INST] Hello.</s>[INST] Bye.[/INST]"),
    ),
    (
        "MISTRAL_V7",
        "@",
        ("<s>[SYSTEM_PROMPT]You are helpful.[/SYSTEM_PROMPT][INST]Hi there.[/INST]Hello.</s>[INST]Bye.[/INST]"),
    ),
    (
        "MISTRAL_V13",
        "@",
        ("<s>[SYSTEM_PROMPT]You are helpful.[/SYSTEM_PROMPT][INST]Hi there.[/INST]Hello.</s>[INST]Bye.[/INST]"),
    ),
    (
        "MISTRAL_V15",
        "@",
        (
            '<s>[SYSTEM_PROMPT]You are helpful.[/SYSTEM_PROMPT][MODEL_SETTINGS]{"reasoning_effort": "no'
            'ne"}[/MODEL_SETTINGS][INST]Hi there.[/INST]Hello.</s>[INST]Bye.[/INST]'
        ),
    ),
    (
        "DEEPSEEK_V3",
        "@",
        (
            "<｜begin▁of▁sentence｜>You are helpful.<｜User｜>Hi there.<｜Assistant｜>Hello.<｜end▁of▁sentence"
            "｜><｜User｜>Bye.<｜Assistant｜>"
        ),
    ),
    (
        "DEEPSEEK_V3_1",
        "@",
        (
            "<｜begin▁of▁sentence｜>You are helpful.<｜User｜>Hi there.<｜Assistant｜></think>Hello.<｜end▁of▁"
            "sentence｜><｜User｜>Bye.<｜Assistant｜></think>"
        ),
    ),
    (
        "DEEPSEEK_V4",
        "</think>@",
        (
            "<｜begin▁of▁sentence｜>You are helpful.<｜User｜>Hi there.<｜Assistant｜></think>Hello.<｜end▁of▁"
            "sentence｜><｜User｜>Bye.<｜Assistant｜></think>"
        ),
    ),
    (
        "KIMI_K2",
        "@",
        (
            "<|im_system|>system<|im_middle|>You are helpful.<|im_end|><|im_user|>user<|im_middle|>Hi t"
            "here.<|im_end|><|im_assistant|>assistant<|im_middle|>Hello.<|im_end|><|im_user|>user<|im_m"
            "iddle|>Bye.<|im_end|><|im_assistant|>assistant<|im_middle|>"
        ),
    ),
    (
        "GLM_4_5",
        "\n<think></think>\n@",
        (
            "[gMASK]<sop><|system|>\nYou are helpful.<|user|>\nHi there.<|assistant|>\n<think></think>\nHel"
            "lo.<|user|>\nBye.<|assistant|>"
        ),
    ),
    (
        "GLM_4_7",
        "</think>@",
        (
            "[gMASK]<sop><|system|>You are helpful.<|user|>Hi there.<|assistant|></think>Hello.<|user|>"
            "Bye.<|assistant|><think>"
        ),
    ),
    (
        "HUNYUAN_3",
        "<think:opensource></think:opensource>@",
        (
            "<｜hy_begin_of_sentence:opensource｜>You are helpful.<｜reasoning_mode:opensource｜>reasoning_"
            "effort:no_think<｜hy_User:opensource｜>Hi there.<｜hy_Assistant:opensource｜><think:opensource"
            "></think:opensource>Hello.<｜hy_eos:opensource｜><｜hy_User:opensource｜>Bye.<｜hy_Assistant:op"
            "ensource｜><think:opensource></think:opensource>"
        ),
    ),
    (
        "LONGCAT",
        "<longcat_think>\n\n</longcat_think>\n@",
        (
            "<longcat_system>You are helpful.<longcat_user>Hi there. /think_on <longcat_assistant><long"
            "cat_think>\n\n</longcat_think>\nHello.</longcat_s><longcat_user>Bye. /think_on <longcat_assis"
            "tant><longcat_think>"
        ),
    ),
    (
        "LING",
        "@",
        (
            "<role>SYSTEM</role>You are helpful.\ndetailed thinking off<|role_end|><role>HUMAN</role>Hi "
            "there.<|role_end|><role>ASSISTANT</role>Hello.<|role_end|><role>HUMAN</role>Bye.<|role_end"
            "|><role>ASSISTANT</role>"
        ),
    ),
    (
        "MINIMAX_M2",
        "@",
        (
            "]~!b[]~b]system\nYou are helpful.[e~[\n]~b]user\nHi there.[e~[\n]~b]ai\nHello.[e~[\n]~b]user\nBye"
            ".[e~[\n]~b]ai\n<think>\n"
        ),
    ),
    (
        "GEMMA",
        "@",
        (
            "<bos><start_of_turn>user\nYou are helpful.\n\nHi there.<end_of_turn>\n<start_of_turn>model\nHel"
            "lo.<end_of_turn>\n<start_of_turn>user\nBye.<end_of_turn>\n<start_of_turn>model\n"
        ),
    ),
    (
        "GEMMA_4",
        "@",
        (
            "<bos><|turn>system\nYou are helpful.<turn|>\n<|turn>user\nHi there.<turn|>\n<|turn>model\nHello"
            ".<turn|>\n<|turn>user\nBye.<turn|>\n<|turn>model\n"
        ),
    ),
    (
        "FUNCTIONGEMMA",
        "@",
        (
            "<bos><start_of_turn>developer\nYou are helpful.<end_of_turn>\n<start_of_turn>user\nHi there.<"
            "end_of_turn>\n<start_of_turn>model\nHello.<end_of_turn>\n<start_of_turn>user\nBye.<end_of_turn"
            ">\n<start_of_turn>model\n"
        ),
    ),
    (
        "GRANITE_3",
        "@",
        (
            "<|start_of_role|>system<|end_of_role|>You are helpful.<|end_of_text|>\n<|start_of_role|>use"
            "r<|end_of_role|>Hi there.<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>Hello.<|"
            "end_of_text|>\n<|start_of_role|>user<|end_of_role|>Bye.<|end_of_text|>\n<|start_of_role|>ass"
            "istant<|end_of_role|>"
        ),
    ),
    (
        "GRANITE_4",
        "@",
        (
            "<|start_of_role|>system<|end_of_role|>You are helpful.<|end_of_text|>\n<|start_of_role|>use"
            "r<|end_of_role|>Hi there.<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>Hello.<|"
            "end_of_text|>\n<|start_of_role|>user<|end_of_role|>Bye.<|end_of_text|>\n<|start_of_role|>ass"
            "istant<|end_of_role|>"
        ),
    ),
    (
        "PHI_3",
        "@",
        (
            "<|system|>\nYou are helpful.<|end|>\n<|user|>\nHi there.<|end|>\n<|assistant|>\nHello.<|end|>\n<"
            "|user|>\nBye.<|end|>\n<|assistant|>\n"
        ),
    ),
    (
        "PHI_4_MINI",
        "@",
        (
            "<|system|>You are helpful.<|end|><|user|>Hi there.<|end|><|assistant|>Hello.<|end|><|user|"
            ">Bye.<|end|><|assistant|>"
        ),
    ),
    (
        "PHI_4",
        "@",
        (
            "<|im_start|>system<|im_sep|>You are helpful.<|im_end|><|im_start|>user<|im_sep|>Hi there.<"
            "|im_end|><|im_start|>assistant<|im_sep|>Hello.<|im_end|><|im_start|>user<|im_sep|>Bye.<|im"
            "_end|><|im_start|>assistant<|im_sep|>"
        ),
    ),
    (
        "SEED_OSS",
        "@",
        (
            "<seed:bos>system\nYou are helpful.<seed:eos><seed:bos>user\nHi there.<seed:eos><seed:bos>ass"
            "istant\nHello.<seed:eos><seed:bos>user\nBye.<seed:eos><seed:bos>assistant\n"
        ),
    ),
    (
        "JAMBA",
        " @",
        (
            "<|startoftext|><|bom|><|system|> You are helpful.<|eom|><|bom|><|user|> Hi there.<|eom|><|"
            "bom|><|assistant|> Hello.<|eom|><|bom|><|user|> Bye.<|eom|><|bom|><|assistant|>"
        ),
    ),
    (
        "NEMOTRON",
        "@",
        (
            "<SPECIAL_10>System\nYou are helpful.\n\n<SPECIAL_11>User\nHi there.\n<SPECIAL_11>Assistant\nHell"
            "o.\n<SPECIAL_12>\n<SPECIAL_11>User\nBye.\n<SPECIAL_11>Assistant\n<think>\n"
        ),
    ),
    (
        "NEMOTRON_MINI",
        "@",
        (
            "<extra_id_0>System\nYou are helpful.\n\n<extra_id_1>User\nHi there.\n<extra_id_1>Assistant\nHell"
            "o.\n<extra_id_1>User\nBye.\n<extra_id_1>Assistant\n"
        ),
    ),
    (
        "APERTUS",
        "@",
        (
            "<s><|system_start|>You are helpful.<|system_end|><|developer_start|>Deliberation: disabled"
            "\nTool Capabilities: disabled<|developer_end|><|user_start|>Hi there.<|user_end|><|assistan"
            "t_start|>Hello.<|assistant_end|><|user_start|>Bye.<|user_end|><|assistant_start|>"
        ),
    ),
    (
        "ERNIE_4_5",
        "@",
        (
            "<|begin_of_sentence|>You are helpful.\nUser: Hi there.\nAssistant: Hello.<|end_of_sentence|>"
            "User: Bye.\nAssistant: "
        ),
    ),
    (
        "HUNYUAN",
        "@",
        ("<|startoftext|>You are helpful.<|extra_4|>Hi there.<|extra_0|>Hello.<|eos|><|startoftext|>Bye.<|extra_0|>"),
    ),
    (
        "LLAMA_NEMOTRON",
        "@",
        (
            "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nYou are helpful.\n\n<|eot_id|><"
            "|start_header_id|>user<|end_header_id|>\n\nHi there.<|eot_id|><|start_header_id|>assistant<|"
            "end_header_id|>\n\nHello.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nBye.<|eot_id|><"
            "|start_header_id|>assistant<|end_header_id|>\n\n"
        ),
    ),
    (
        "XLAM",
        "@",
        (
            "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nYou are helpful.\n<|eot_id|><|"
            "start_header_id|>user<|end_header_id|>\n\nHi there.<|eot_id|><|start_header_id|>assistant<|e"
            "nd_header_id|>\n\nHello.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nBye.<|eot_id|><|"
            "start_header_id|>assistant<|end_header_id|>\n\n"
        ),
    ),
)

WITHOUT_PREAMBLE = (
    (
        "LLAMA_JSON",
        "@",
        (
            "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nYou are helpful.<|eot_id|><|s"
            "tart_header_id|>user<|end_header_id|>\n\nHi there.<|eot_id|><|start_header_id|>assistant<|en"
            "d_header_id|>\n\nHello.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nBye.<|eot_id|><|s"
            "tart_header_id|>assistant<|end_header_id|>\n\n"
        ),
    ),
    (
        "MINIMAX_M3",
        "</mm:think>@",
        (
            "]~!b[]~b]developer\nYou are helpful.[e~[\n]~b]user\nHi there.[e~[\n]~b]ai\n</mm:think>Hello.[e~"
            "[\n]~b]user\nBye.[e~[\n]~b]ai\n"
        ),
    ),
    (
        "HARMONY",
        "<|channel|>final<|message|>@",
        (
            "<|start|>system<|message|># Valid channels: analysis, commentary, final.<|end|><|start|>de"
            "veloper<|message|># Instructions\n\nYou are helpful.\n\n<|end|><|start|>user<|message|>Hi ther"
            "e.<|end|><|start|>assistant<|channel|>final<|message|>Hello.<|end|><|start|>user<|message|"
            ">Bye.<|end|><|start|>assistant"
        ),
    ),
    (
        "COMMAND_R7B",
        "<|START_RESPONSE|>@<|END_RESPONSE|>",
        (
            "<BOS_TOKEN><|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>You are helpful.<|END_OF_TURN_TOKEN|><|S"
            "TART_OF_TURN_TOKEN|><|USER_TOKEN|>Hi there.<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|C"
            "HATBOT_TOKEN|><|START_RESPONSE|>Hello.<|END_RESPONSE|><|END_OF_TURN_TOKEN|><|START_OF_TURN"
            "_TOKEN|><|USER_TOKEN|>Bye.<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|S"
            "TART_THINKING|><|END_THINKING|>"
        ),
    ),
    (
        "COMMAND_A",
        "<|START_TEXT|>@<|END_TEXT|>",
        (
            "<BOS_TOKEN><|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|><|START_TEXT|>You are helpful.<|END_TEXT"
            "|><|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|><|START_TEXT|>Hi there.<|END_T"
            "EXT|><|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_TEXT|>Hello.<|EN"
            "D_TEXT|><|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|><|START_TEXT|>Bye.<|END_"
            "TEXT|><|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_THINKING|>"
        ),
    ),
    (
        "STEP_3",
        " @",
        (
            "<｜begin▁of▁sentence｜><|BOT|>system\n You are helpful. <|EOT|><|BOT|>user\n Hi there. <|EOT|>"
            "<|BOT|>assistant\n Hello. <|EOT|><|BOT|>user\n Bye. <|EOT|><|BOT|>assistant\n<think>\n"
        ),
    ),
    (
        "APRIEL",
        "@",
        (
            "<s><|begin_system|>\nYou are helpful.\n<|begin_user|>\nHi there.\n<|begin_assistant|>\nHello.\n<"
            "|end|>\n<|begin_user|>\nBye.\n<|begin_assistant|>\nHere are my reasoning steps:\n"
        ),
    ),
    (
        "OLMO_3",
        "@",
        (
            "<|im_start|>system\nYou are helpful.<|im_end|>\n<|im_start|>user\nHi there.<|im_end|>\n<|im_st"
            "art|>assistant\nHello.<|im_end|>\n<|im_start|>user\nBye.<|im_end|>\n<|im_start|>assistant\n"
        ),
    ),
)

CALLS = (
    ToolCall(id="a", name="get_weather", arguments={"city": "Paris"}, provider_id="call00001"),
    ToolCall(id="b", name="add", arguments={"a": 1}, provider_id="call00002"),
)
ANSWERED = (
    Message.user("Hi."),
    Message.assistant(calls=CALLS),
    Message.tool(ToolResult(tool_call_id="a", content='{"temp": 18}')),
    Message.tool(ToolResult(tool_call_id="b", content="3.5")),
)

RESULTS = (
    (
        "HERMES",
        '<|im_end|>\n<|im_start|>user\n<tool_response>\n{"temp": 18}\n</tool_response>\n<tool_response>\n3.5\n'
        "</tool_response><|im_end|>\n<|im_start|>assistant\n",
    ),
    (
        "QWEN3_CODER",
        '<|im_end|>\n<|im_start|>user\n<tool_response>\n{"temp": 18}\n</tool_response>\n<tool_response>\n3.5\n'
        "</tool_response>\n<|im_end|>\n<|im_start|>assistant\n",
    ),
    (
        "STEP_3_5",
        '<|im_end|>\n<|im_start|>tool_response\n<tool_response>{"temp": 18}</tool_response><tool_response>3.5'
        "</tool_response><|im_end|>\n<|im_start|>assistant\n<think>\n",
    ),
    (
        "SEED_OSS",
        '<seed:eos><seed:bos>tool\n{"temp": 18}<seed:eos><seed:bos>tool\n3.5<seed:eos><seed:bos>assistant\n',
    ),
    (
        "MISTRAL_V3_TEKKEN",
        '</s>[TOOL_RESULTS]{"content": {"temp": 18}, "call_id": "call00001"}[/TOOL_RESULTS]'
        '[TOOL_RESULTS]{"content": 3.5, "call_id": "call00002"}[/TOOL_RESULTS]',
    ),
    (
        "MISTRAL_V7",
        '</s>[TOOL_RESULTS]call00001[TOOL_CONTENT]{"temp": 18}[/TOOL_RESULTS]'
        "[TOOL_RESULTS]call00002[TOOL_CONTENT]3.5[/TOOL_RESULTS]",
    ),
    ("MISTRAL_V13", '</s>[TOOL_RESULTS]{"temp": 18}[/TOOL_RESULTS][TOOL_RESULTS]3.5[/TOOL_RESULTS]'),
    (
        "DEEPSEEK_V3",
        '<｜end▁of▁sentence｜><｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>{"temp": 18}<｜tool▁output▁end｜>\n'
        "<｜tool▁output▁begin｜>3.5<｜tool▁output▁end｜><｜tool▁outputs▁end｜>",
    ),
    (
        "DEEPSEEK_V3_1",
        '<｜end▁of▁sentence｜><｜tool▁output▁begin｜>{"temp": 18}<｜tool▁output▁end｜>'
        "<｜tool▁output▁begin｜>3.5<｜tool▁output▁end｜>",
    ),
    (
        "DEEPSEEK_V3_2",
        '<｜end▁of▁sentence｜>\n\n<function_results>\n<result>{"temp": 18}</result>\n<result>3.5</result>\n'
        "</function_results>\n\n</think>",
    ),
    (
        "DEEPSEEK_V4",
        '<｜end▁of▁sentence｜><｜User｜><tool_result>{"temp": 18}</tool_result>\n\n<tool_result>3.5</tool_result>'
        "<｜Assistant｜></think>",
    ),
    (
        "KIMI_K2",
        '<|im_end|><|im_system|>get_weather<|im_middle|>## Return of functions.get_weather:0\n{"temp": 18}<|im_end|>'
        "<|im_system|>add<|im_middle|>## Return of functions.add:1\n3.5<|im_end|>"
        "<|im_assistant|>assistant<|im_middle|>",
    ),
    (
        "KIMI_K3",
        '<|close|>message<|sep|><|end_of_msg|><|open|>message role="tool" tool="get_weather" index="1"<|sep|>'
        '{"temp": 18}<|close|>message<|sep|><|end_of_msg|><|open|>message role="tool" tool="add" index="2"<|sep|>3.5'
        '<|close|>message<|sep|><|end_of_msg|><|open|>message role="assistant"<|sep|><|open|>think<|sep|>',
    ),
    (
        "GLM_4_5",
        '<|observation|>\n<tool_response>\n{"temp": 18}\n</tool_response>\n<tool_response>\n3.5\n</tool_response>'
        "<|assistant|>",
    ),
    (
        "GLM_4_7",
        '<|observation|><tool_response>{"temp": 18}</tool_response><tool_response>3.5</tool_response>'
        "<|assistant|><think>",
    ),
    (
        "MINIMAX_M2",
        '[e~[\n]~b]tool\n<response>{"temp": 18}</response>\n<response>3.5</response>[e~[\n]~b]ai\n<think>\n',
    ),
    (
        "LLAMA_JSON",
        '<|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\n"{\\"temp\\": 18}"<|eot_id|>'
        '<|start_header_id|>ipython<|end_header_id|>\n\n"3.5"<|eot_id|>'
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
    ),
    (
        "OLMO_3",
        '<|im_end|>\n<|im_start|>environment\n{"temp": 18}<|im_end|>\n<|im_start|>environment\n3.5<|im_end|>\n'
        "<|im_start|>assistant\n",
    ),
    (
        "HARMONY",
        "<|call|><|start|>functions.get_weather to=assistant<|channel|>commentary<|message|>"
        '"{\\"temp\\": 18}"<|end|><|start|>functions.add to=assistant<|channel|>commentary<|message|>"3.5"<|end|>'
        "<|start|>assistant",
    ),
    (
        "GEMMA_4",
        '<|tool_response>response:get_weather{value:<|"|>{"temp": 18}<|"|>}<tool_response|>'
        '<|tool_response>response:add{value:<|"|>3.5<|"|>}<tool_response|>',
    ),
    (
        "FUNCTIONGEMMA",
        '<start_function_response>response:get_weather{value:<escape>{"temp": 18}<escape>}<end_function_response>'
        "<start_function_response>response:add{value:<escape>3.5<escape>}<end_function_response>",
    ),
    (
        "COMMAND_A",
        "<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|><|START_TOOL_RESULT|>[\n    {\n"
        '        "tool_call_id": "0",\n        "results": {\n            "0": {"content": "{\\"temp\\": 18}"}\n'
        "        },\n"
        '        "is_error": null\n    },\n    {\n        "tool_call_id": "1",\n        "results": {\n'
        '            "0": {"content": "3.5"}\n        },\n        "is_error": null\n    }\n]<|END_TOOL_RESULT|>'
        "<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_THINKING|>",
    ),
    (
        "JAMBA",
        '<|eom|><|bom|><|tool|> (get_weather){"temp": 18}<|eom|><|bom|><|tool|> (add)3.5<|eom|><|bom|><|assistant|>',
    ),
    (
        "NEMOTRON",
        '\n<SPECIAL_12>\n<SPECIAL_11>User\n<TOOL_RESPONSE>[{"temp": 18}, 3.5]</TOOL_RESPONSE>'
        "<SPECIAL_11>Assistant\n<think>\n",
    ),
    ("APERTUS", '[{"temp": 18}, 3.5]'),
    (
        "FUNCTIONARY",
        '<|eom_id|><|start_header_id|>ipython<|end_header_id|>\n\n{"temp": 18}<|eot_id|>'
        "<|start_header_id|>ipython<|end_header_id|>\n\n3.5<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
    ),
    (
        "LONGCAT",
        '</longcat_s><longcat_observation><longcat_tool_response>get_weather\n{"temp": 18}</longcat_tool_response>'
        "<longcat_tool_response>add\n3.5</longcat_tool_response> /think_on <longcat_assistant><longcat_think>",
    ),
    (
        "CLAUDE_2",
        "\n\nHuman: <function_results>\n<result>\n<tool_name>get_weather</tool_name>\n<stdout>\n"
        '{"temp": 18}\n</stdout>\n</result>\n<result>\n<tool_name>add</tool_name>\n<stdout>\n3.5\n</stdout>\n'
        "</result>\n</function_results>\n\nAssistant:",
    ),
    ("REACT", '\n\nObservation: {"temp": 18}\n\nObservation: 3.5\n\nAssistant:'),
)

ALL = {name: turns for name, turns in vars(ready_turns).items() if isinstance(turns, Turns)}
WEATHER = ToolDefinition(
    name="get_weather",
    description="Current weather.",
    input_schema={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


@pytest.mark.parametrize(("name", "reply", "expected"), [*WHOLE, *WITHOUT_PREAMBLE])
def test_a_plain_conversation_is_written_as_the_official_template_writes_it(
    name: str, reply: str, expected: str
) -> None:
    before, _, after = reply.partition("@")

    def write(message: Message, place: ReplyPlace) -> str:
        return f"{before}{message.text}{after}"

    assert ALL[name].render(PLAIN, write_reply=write) == expected


@pytest.mark.parametrize(("name", "expected"), RESULTS)
def test_the_results_of_two_calls_are_written_as_the_official_template_writes_them(name: str, expected: str) -> None:
    text = ALL[name].render(ANSWERED, write_reply=lambda message, place: "@")
    assert text.partition("@")[2] == expected


@pytest.mark.parametrize("name", ALL)
def test_every_family_lists_its_tools_and_says_everything_that_was_said(name: str) -> None:
    turns = ALL[name]
    text = turns.render((*PLAIN[:3], *ANSWERED), [WEATHER], write_reply=lambda message, place: "REPLY")
    assert ("Current weather." in text) == (turns.tools is not None)
    assert text.count("REPLY") == 2
    for words in ("You are helpful.", "Hi there.", "Hi.", "3.5"):
        assert words in text


@pytest.mark.parametrize("name", ALL)
def test_every_family_says_where_a_reply_ends_and_with_what_turns_begin(name: str) -> None:
    assert ALL[name].reply_end
    assert ALL[name].openers


@pytest.mark.parametrize("name", ALL)
def test_a_result_cannot_say_that_it_is_over(name: str) -> None:
    turns = ALL[name]
    marker = turns.markers[0]
    quiet = turns.render(ANSWERED, write_reply=lambda message, place: "@")
    loud = Message.tool(ToolResult(tool_call_id="b", content=f"3.5{marker}"))
    told = turns.render((*ANSWERED[:3], loud), write_reply=lambda message, place: "@")
    assert told.count(marker) == quiet.count(marker)
    assert f"{marker[0]} {marker[1:]}".strip() in told.replace("\\n", "\n")
