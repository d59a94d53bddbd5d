"""Small synthetic runs, one for each format: a read, an edit of what was read, a search."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"

BEFORE = "def area(radius):\n    return 3 * radius\n"
AFTER = "def area(radius):\n    return 3.14 * radius\n"
OLD, NEW = "    return 3 * radius\n", "    return 3.14 * radius\n"


def lines(*values: Json) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def claude_code() -> str:
    def answer(number: int, block: Json, output: int = 3) -> Json:
        usage: Json = {
            "input_tokens": 5,
            "cache_creation_input_tokens": 100,
            "cache_read_input_tokens": 1000,
            "output_tokens": output,
        }
        message: Json = {
            "id": f"m{number}",
            "role": "assistant",
            "content": [block],
            "usage": usage,
        }
        return {"type": "assistant", "uuid": f"a{number}{output}", "cwd": "/w", "message": message}

    def result(call: str, text: str, extra: Json = None, *, failed: bool = False) -> Json:
        block: Json = {"type": "tool_result", "tool_use_id": call, "content": text}
        if failed and isinstance(block, dict):
            block["is_error"] = True
        return {
            "type": "user",
            "uuid": call,
            "message": {"role": "user", "content": [block]},
            "toolUseResult": extra,
        }

    edit: Json = {"file_path": "/w/area.py", "old_string": OLD, "new_string": NEW}
    numbered = "     1→def area(radius):\n     2→    return 3 * radius\n"
    file: Json = {"content": BEFORE, "startLine": 1, "numLines": 3, "totalLines": 3}
    return lines(
        {"type": "file-history-snapshot", "messageId": "x"},
        {"type": "user", "uuid": "u", "message": {"role": "user", "content": "Fix the area."}},
        answer(1, {"type": "thinking", "thinking": "hm"}),
        answer(1, {"type": "text", "text": "I look at area.py."}, 4),
        answer(1, _use("t1", "Read", {"file_path": "/w/area.py"}), 5),
        result("t1", numbered, {"type": "text", "file": file}),
        answer(2, _use("t2", "Edit", edit)),
        result("t2", "The file was updated."),
        answer(3, _use("t3", "Grep", {"pattern": "radius", "path": "/w"})),
        result("t3", "area.py:1:def area(radius):"),
        answer(4, _use("t4", "Read", {"file_path": "/w/missing.py"})),
        result("t4", "File does not exist.", failed=True),
    )


def _use(call: str, name: str, args: Json) -> Json:
    return {"type": "tool_use", "id": call, "name": name, "input": args}


def codex_rollout() -> str:
    def item(**payload: Json) -> Json:
        return {"timestamp": "t", "type": "response_item", "payload": payload}

    def shell(call: str, command: str) -> Json:
        args = json.dumps({"cmd": command, "workdir": "/w"})
        return item(type="function_call", name="exec_command", arguments=args, call_id=call)

    def output(call: str, text: str) -> Json:
        return item(type="function_call_output", call_id=call, output=text)

    task: Json = [{"type": "input_text", "text": "Fix the area."}]
    running = "Chunk ID: 1\nWall time: 1.0\nProcess running with session ID 7\nOutput:\n"
    patch = (
        "*** Begin Patch\n*** Update File: area.py\n@@\n def area(radius):\n"
        "-    return 3 * radius\n+    return 3.14 * radius\n*** End Patch"
    )
    count: Json = {"input_tokens": 900, "cached_input_tokens": 100, "output_tokens": 9}
    tokens: Json = {
        "type": "event_msg",
        "payload": {
            "type": "token_count",
            "info": {"total_token_usage": count, "last_token_usage": count},
        },
    }
    return lines(
        {"type": "session_meta", "payload": {"cwd": "/w", "id": "s"}},
        item(type="message", role="user", content=task),
        item(type="reasoning", summary=[], encrypted_content="x"),
        shell("c1", "cat area.py"),
        tokens,
        tokens,
        output("c1", running),
        item(
            type="function_call",
            name="write_stdin",
            arguments=json.dumps({"session_id": 7, "chars": ""}),
            call_id="c2",
        ),
        output("c2", f"Chunk ID: 2\nProcess exited with code 0\nOutput:\n{BEFORE}"),
        item(type="custom_tool_call", name="apply_patch", input=patch, call_id="c3"),
        item(
            type="custom_tool_call_output",
            call_id="c3",
            output=json.dumps({"output": "Success.", "metadata": {"exit_code": 0}}),
        ),
        shell("c4", "rg radius ."),
        output("c4", "Process exited with code 0\nOutput:\narea.py:1:def area(radius):\n"),
    )


def swe_agent() -> str:
    def entry(action: str, observation: str, file: str) -> Json:
        state = json.dumps({"open_file": file, "working_dir": "/w"})
        return {"action": action, "observation": observation, "thought": "I go on.", "state": state}

    window = "[File: /w/area.py (2 lines total)]\n1:def area(radius):\n2:    return 3 * radius\n"
    edited = "[File: /w/area.py (2 lines total)]\n1:def area(radius):\n2:    return 3.14 * radius\n"
    return json.dumps(
        {
            "history": [
                {"role": "system", "content": "You are an agent."},
                {"role": "user", "content": "A demonstration.", "is_demo": True},
                {"role": "user", "content": "Fix the area."},
            ],
            "trajectory": [
                entry("open area.py", window, "/w/area.py"),
                entry("edit 2:2\n    return 3.14 * radius\nend_of_edit", edited, "/w/area.py"),
                entry("search_dir radius", "Found 1 match", "/w/area.py"),
                entry("edit 2:2\n  bad", "Your edit was not applied.", "/w/area.py"),
                entry("submit", "", "/w/area.py"),
            ],
            "info": {},
        }
    )


def mini_swe_agent() -> str:
    def said(command: str) -> Json:
        usage: Json = {"prompt_tokens": 700, "completion_tokens": 9}
        text = f"THOUGHT: on.\n\n```bash\n{command}\n```"
        return {"role": "assistant", "content": text, "extra": {"response": {"usage": usage}}}

    def got(text: str, code: int = 0) -> Json:
        return {
            "role": "user",
            "content": f"<returncode>{code}</returncode>\n<output>\n{text}</output>",
        }

    return json.dumps(
        {
            "trajectory_format": "mini-swe-agent-1",
            "info": {"config": {"environment": {"cwd": "/w"}}},
            "messages": [
                {"role": "system", "content": "You are an agent."},
                {"role": "user", "content": "Fix the area."},
                said("cat area.py"),
                got(BEFORE),
                said("sed -i 's/3 /3.14 /' area.py"),
                got(""),
                said("grep -n radius area.py"),
                got("1:def area(radius):\n"),
                {"role": "assistant", "content": "```bash\nls\n```\n```bash\npwd\n```"},
                {"role": "user", "content": "Please give exactly one command."},
                said("cat missing.py"),
                got("cat: missing.py: No such file or directory\n", 1),
            ],
        }
    )


def openhands() -> str:
    def pair(number: int, action: str, args: Json, content: str, **extras: Json) -> list[Json]:
        answer: Json = {"id": f"r{number}", "usage": {"prompt_tokens": 800, "completion_tokens": 7}}
        return [
            {
                "id": number,
                "source": "agent",
                "action": action,
                "args": args,
                "tool_call_metadata": {"tool_call_id": f"c{number}", "model_response": answer},
            },
            {
                "id": number + 1,
                "source": "agent",
                "cause": number,
                "observation": action,
                "content": content,
                "extras": extras,
            },
        ]

    edit: dict[str, Json] = {"command": "str_replace", "path": "/w/area.py"}
    numbered = "Here's the result of running `cat -n` on /w/area.py:\n     1\tdef area(radius):\n"
    where: Json = {"exit_code": 0, "working_dir": "/w"}
    return json.dumps(
        {
            "history": [
                {"id": 0, "source": "user", "action": "message", "args": {"content": "Fix."}},
                *pair(
                    2,
                    "read",
                    {"path": "/w/area.py", "thought": "I look."},
                    numbered + "     2\t    return 3 * radius\n",
                ),
                *pair(
                    4,
                    "edit",
                    edit | {"old_str": OLD, "new_str": NEW},
                    "The file /w/area.py has been edited.",
                ),
                *pair(
                    6,
                    "run",
                    {"command": "grep -rn radius /w"},
                    "area.py:1:def area(radius):",
                    metadata=where,
                ),
                *pair(8, "edit", edit, "ERROR:\nNo old_str."),
            ]
        }
    )


def pi() -> str:
    def answer(*content: Json) -> Json:
        usage: Json = {"input": 1, "output": 5, "cacheRead": 500, "cacheWrite": 99}
        return {
            "type": "message",
            "message": {
                "role": "assistant",
                "content": list(content),
                "usage": usage,
                "stopReason": "toolUse",
            },
        }

    def call(number: int, name: str, **args: Json) -> Json:
        return {"type": "toolCall", "id": f"c{number}", "name": name, "arguments": args}

    def result(number: int, text: str) -> Json:
        message: Json = {
            "role": "toolResult",
            "toolCallId": f"c{number}",
            "content": [{"type": "text", "text": text}],
            "isError": False,
        }
        return {"type": "message", "message": message}

    return lines(
        {"type": "session", "id": "s", "cwd": "/w"},
        {"type": "message", "message": {"role": "user", "content": "Fix the area."}},
        answer({"type": "text", "text": "I look."}, call(1, "read", path="area.py")),
        result(1, BEFORE),
        answer(call(2, "edit", path="/w/area.py", oldText=OLD, newText=NEW)),
        result(2, "Done."),
        answer(call(3, "grep", pattern="radius"), call(4, "bash", command="pytest -q")),
        result(4, "1 passed"),
        {"type": "compaction", "summary": "All that was done.", "firstKeptEntryIndex": 4},
    )


def chat_openai() -> str:
    def asks(number: int, name: str, args: Json) -> Json:
        function: Json = {"name": name, "arguments": json.dumps(args)}
        call: Json = {"id": f"c{number}", "type": "function", "function": function}
        return {"role": "assistant", "content": "On.", "tool_calls": [call]}

    def tool(number: int, text: str) -> Json:
        return {"role": "tool", "tool_call_id": f"c{number}", "content": text}

    edit: Json = {"command": "str_replace", "path": "area.py", "old_str": OLD, "new_str": NEW}
    return json.dumps(
        [
            {"role": "system", "content": "You are an agent."},
            {"role": "user", "content": "Fix the area."},
            asks(1, "read_file", {"path": "area.py"}),
            tool(1, BEFORE),
            asks(2, "str_replace_editor", edit),
            tool(2, "Done."),
            asks(3, "search_files", {"regex": "radius"}),
            tool(3, "area.py:1: radius"),
        ]
    )


def chat_anthropic() -> str:
    def asks(number: int, name: str, args: Json) -> Json:
        return {"role": "assistant", "content": [_use(f"c{number}", name, args)]}

    def result(number: int, text: str) -> Json:
        block: Json = {"type": "tool_result", "tool_use_id": f"c{number}", "content": text}
        return {"role": "user", "content": [block]}

    return json.dumps(
        {
            "model": "claude",
            "messages": [
                {"role": "user", "content": "Fix the area."},
                asks(1, "view", {"path": "area.py"}),
                result(1, BEFORE),
                asks(2, "edit_file", {"path": "area.py", "old_string": OLD, "new_string": NEW}),
                result(2, "Done."),
                asks(3, "grep", {"pattern": "radius", "path": "."}),
                result(3, "area.py:1: radius"),
            ],
        }
    )


def chat_text_calls() -> str:
    def asks(name: str, **args: str) -> Json:
        given = "".join(f"<parameter={k}>\n{v}\n</parameter>\n" for k, v in args.items())
        return {"role": "assistant", "content": f"On.\n<function={name}>\n{given}</function>"}

    def seen(text: str) -> Json:
        return {"role": "user", "content": f"OBSERVATION:\n{text}"}

    editor = "str_replace_editor"
    edit = {"path": "area.py", "old_str": OLD[:-1], "new_str": NEW[:-1]}
    return json.dumps(
        {
            "messages": [
                {"role": "system", "content": "You are an agent."},
                {"role": "user", "content": "Fix the area."},
                asks(editor, command="view", path="area.py"),
                seen(BEFORE),
                asks(editor, command="str_replace", **edit),
                seen("Done."),
                asks("execute_bash", command="grep -rn radius ."),
                seen("area.py:1: radius"),
                asks("submit"),
            ]
        }
    )


def cline() -> str:
    def answer(number: int, name: str, args: Json) -> Json:
        return {
            "role": "assistant",
            "content": [_use(f"c{number}", name, args)],
            "metrics": {"inputTokens": 600, "outputTokens": 8, "cacheReadTokens": 500},
        }

    def result(number: int, content: Json) -> Json:
        block: Json = {"type": "tool_result", "tool_use_id": f"c{number}", "content": content}
        return {"role": "user", "content": [block]}

    files: Json = {"files": [{"path": "area.py", "start_line": 1, "end_line": 2}]}
    read: Json = [
        {
            "query": "area.py:1-2",
            "result": "1 | def area(radius):\n2 |     return 3 * radius",
            "success": True,
        }
    ]
    return json.dumps(
        {
            "version": 1,
            "sessionId": "s",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Fix the area."}]},
                answer(1, "read_files", files),
                result(1, read),
                answer(2, "editor", {"path": "area.py", "old_text": OLD, "new_text": NEW}),
                result(2, json.dumps({"query": "edit", "result": "Edited", "success": True})),
                answer(3, "search_codebase", {"queries": ["radius"]}),
                result(3, "area.py:1: radius"),
            ],
        }
    )


SAMPLES: dict[str, Callable[[], str]] = {
    "claude_code": claude_code,
    "codex_rollout": codex_rollout,
    "swe_agent": swe_agent,
    "mini_swe_agent": mini_swe_agent,
    "openhands": openhands,
    "pi": pi,
    "chat": chat_openai,
    "chat anthropic": chat_anthropic,
    "openhands_chat": chat_text_calls,
    "cline": cline,
}


def write_sample(name: str, folder: Path) -> str:
    """The sample in a file whose name tells nothing of its format."""
    path = folder / "run"
    path.write_text(SAMPLES[name](), encoding="utf-8")
    return str(path)
