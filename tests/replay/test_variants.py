"""Legal shapes of each format that the samples do not have: nothing in them is lost unseen."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from io_harness.replay.importers import read_transcripts
from io_harness.replay.records import Record, Transcript
from io_harness.types import ObsKind

from .samples import SAMPLES, Json, lines

Shape: TypeAlias = "dict[str, Json]"


def runs(text: str, folder: Path) -> tuple[Transcript, ...]:
    path = folder / "run"
    path.write_text(text, encoding="utf-8", newline="")
    return read_transcripts(str(path))


def sent(run: Transcript) -> str:
    return "\n".join(f"{record.args}\n{record.text}" for record in run.records)


def calls(run: Transcript) -> list[Record]:
    return [record for record in run.records if record.kind is not ObsKind.MESSAGE]


# Claude Code


def claude_user(*content: Json, **line: Json) -> Shape:
    message: Json = {"role": "user", "content": list(content)}
    return {"type": "user", "sessionId": "s", "message": message, **line}


def claude_answer(number: str, *content: Json, **line: Json) -> Shape:
    message: Json = {"id": number, "role": "assistant", "content": list(content)}
    return {"type": "assistant", "sessionId": "s", "message": message, **line}


def use(call: str, name: str, **args: Json) -> Shape:
    return {"type": "tool_use", "id": call, "name": name, "input": args}


def gave(call: str, content: Json, **block: Json) -> Shape:
    return {"type": "tool_result", "tool_use_id": call, "content": content, **block}


def words(text: str) -> Shape:
    return {"type": "text", "text": text}


def codex(**payload: Json) -> Shape:
    return {"timestamp": "t", "type": "response_item", "payload": payload}


def codex_call(call: str, name: str, **args: Json) -> Shape:
    return codex(type="function_call", name=name, arguments=json.dumps(args), call_id=call)


def codex_gave(call: str, output: Json) -> Shape:
    return codex(type="function_call_output", call_id=call, output=output)


META: Shape = {"type": "session_meta", "payload": {"cwd": "/w", "id": "s"}}


def chat_asks(*asked: tuple[str, str, Json]) -> Shape:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": call,
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(args)},
            }
            for call, name, args in asked
        ],
    }


def chat_gave(call: str, content: Json) -> Shape:
    return {"role": "tool", "tool_call_id": call, "content": content}


TASK: Shape = {"role": "user", "content": "Fix."}


def chat(*messages: Json) -> str:
    return json.dumps([TASK, *messages])


def openhands(*events: Json) -> str:
    task: Json = {"source": "user", "action": "message", "args": {"content": "Fix."}}
    return json.dumps({"history": [task, *events]})


def mini(*messages: Json) -> str:
    return json.dumps({"trajectory_format": "mini-swe-agent-1.1", "messages": [TASK, *messages]})


def swe(history: Json, *entries: Json) -> str:
    return json.dumps({"history": history, "trajectory": list(entries)})


CONTENT: dict[str, Json] = {
    "a string": "seen-here",
    "a text block": [{"type": "text", "text": "seen-here"}],
    "a block without a type": [{"text": "seen-here"}],
    "a bare string in a list": ["seen-here"],
    "one block alone": {"type": "text", "text": "seen-here"},
    "an embedded resource": [{"type": "resource", "resource": {"uri": "x:", "text": "seen-here"}}],
    "a block of a new type": [{"type": "hologram", "data": {"deep": ["seen-here"]}}],
    "an object": {"rows": [{"name": "seen-here"}]},
    "images around": [
        {"type": "image", "source": {"data": "AAAA"}},
        {"type": "text", "text": "seen-here"},
        {"type": "image_url", "image_url": {"url": "data:"}},
    ],
    "nested too deep": json.loads('[{"content":' * 400 + '"seen-here"' + "}]" * 400),
}

HOLDERS: dict[str, Callable[[Json], str]] = {
    "claude_code": lambda content: lines(
        claude_user(words("Fix.")),
        claude_answer("m1", use("t1", "mcp__x__y")),
        claude_user(gave("t1", content)),
    ),
    "codex_rollout": lambda content: lines(
        META, codex_call("c1", "mcp", a=1), codex_gave("c1", content)
    ),
    "chat": lambda content: chat(chat_asks(("c1", "mcp", {})), chat_gave("c1", content)),
    "chat anthropic": lambda content: chat(
        {"role": "assistant", "content": [use("t1", "mcp")]},
        {"role": "user", "content": [gave("t1", content)]},
    ),
    "pi": lambda content: lines(
        {"type": "session", "cwd": "/w"},
        {"type": "message", "message": {"role": "user", "content": "Fix."}},
        {
            "type": "message",
            "message": {
                "role": "assistant",
                "content": [{"type": "toolCall", "id": "c1", "name": "x", "arguments": {}}],
            },
        },
        {
            "type": "message",
            "message": {"role": "toolResult", "toolCallId": "c1", "content": content},
        },
    ),
    "mini_swe_agent": lambda content: mini(
        {"role": "assistant", "content": "```bash\nmake\n```"}, {"role": "user", "content": content}
    ),
    "openhands": lambda content: openhands(
        {"id": 1, "source": "agent", "action": "run", "args": {"command": "make"}},
        {"id": 2, "cause": 1, "observation": "run", "content": content},
    ),
    "swe_agent": lambda content: swe(
        [{"role": "user", "content": "Fix."}], {"action": "make", "observation": content}
    ),
}


@pytest.mark.parametrize("shape", CONTENT)
@pytest.mark.parametrize("form", HOLDERS)
def test_a_results_text_is_kept_in_every_shape_of_content(
    form: str, shape: str, tmp_path: Path
) -> None:
    run = runs(HOLDERS[form](CONTENT[shape]), tmp_path)[0]

    assert run.format == form.split(maxsplit=1)[0]
    assert [record for record in calls(run) if "seen-here" in record.text]
    assert run.report.notes["image"] == (2 if shape == "images around" else 0)


MESSAGES: dict[str, Callable[[Json], str]] = {
    "claude_code": lambda content: lines(
        {**claude_user(), "message": {"role": "user", "content": content}},
        claude_answer("m1", words("Yes.")),
    ),
    "codex_rollout": lambda content: lines(
        META, codex(type="message", role="user", content=content)
    ),
    "chat": lambda content: chat({"role": "user", "content": content}),
    "pi": lambda content: lines(
        {"type": "session", "cwd": "/w"},
        {"type": "message", "message": {"role": "user", "content": content}},
    ),
    "mini_swe_agent": lambda content: mini({"role": "user", "content": content}),
    "openhands": lambda content: openhands(
        {"source": "user", "action": "message", "args": {"content": content}}
    ),
    "swe_agent": lambda content: swe(
        [{"role": "user", "content": content}], {"action": "ls", "observation": "a"}
    ),
}


@pytest.mark.parametrize("shape", CONTENT)
@pytest.mark.parametrize("form", MESSAGES)
def test_a_users_text_is_kept_or_counted_in_every_shape_of_content(
    form: str, shape: str, tmp_path: Path
) -> None:
    run = runs(MESSAGES[form](CONTENT[shape]), tmp_path)[0]

    assert "seen-here" in sent(run) or run.report.not_understood
    assert run.report.notes["image"] == (2 if shape == "images around" else 0)


# Calls and their results


def test_ids_that_every_answer_uses_again_lose_no_call(tmp_path: Path) -> None:
    run = runs(
        chat(
            chat_asks(("call_0", "bash", {"command": "make"})),
            chat_gave("call_0", "first"),
            chat_asks(("call_0", "bash", {"command": "make"})),
            chat_gave("call_0", "second"),
        ),
        tmp_path,
    )[0]

    assert [record.text for record in calls(run)] == ["first", "second"]
    assert not run.report.notes["duplicate call"]


def test_results_without_ids_answer_their_calls_in_order(tmp_path: Path) -> None:
    asked = chat_asks(("", "read_file", {"path": "a"}), ("", "read_file", {"path": "b"}))
    run = runs(
        chat(asked, {"role": "tool", "content": "of a"}, {"role": "tool", "content": "of b"}),
        tmp_path,
    )[0]

    assert [(record.target, record.text) for record in calls(run)] == [("a", "of a"), ("b", "of b")]


def test_every_function_in_a_text_answer_is_a_call(tmp_path: Path) -> None:
    said = "On.\n<function=bash>\n<parameter=command>make {}</parameter>\n</function>\n"
    text = said.format("one") + said.format("two") + "Both at once."
    run = runs(
        chat(
            {"role": "assistant", "content": text}, {"role": "user", "content": "OBSERVATION:\na"}
        ),
        tmp_path,
    )[0]

    assert ["one" in calls(run)[0].args, "two" in calls(run)[1].args] == [True, True]
    assert "Both at once." in sent(run)


def test_a_reads_text_that_speaks_of_exit_codes_is_no_failure(tmp_path: Path) -> None:
    asked = chat_asks(("c", "read_file", {"path": "README"}))
    run = runs(chat(asked, chat_gave("c", "It ends with exit code 2\n")), tmp_path)[0]

    assert not calls(run)[0].is_error


def test_responses_items_in_a_list_are_calls(tmp_path: Path) -> None:
    run = runs(
        chat(
            {"type": "reasoning", "id": "r", "summary": []},
            {
                "type": "function_call",
                "call_id": "c1",
                "name": "bash",
                "arguments": '{"command": "cat a"}',
            },
            {
                "type": "function_call",
                "call_id": "c2",
                "name": "bash",
                "arguments": '{"command": "cat b"}',
            },
            {"type": "function_call_output", "call_id": "c1", "output": "of a"},
            {"type": "function_call_output", "call_id": "c2", "output": "of b"},
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Done."}],
            },
        ),
        tmp_path,
    )[0]

    assert [(r.kind, r.target, r.text) for r in calls(run)] == [
        (ObsKind.READ, "a", "of a"),
        (ObsKind.READ, "b", "of b"),
    ]
    assert run.steps == 2
    assert not run.report.not_understood


def test_a_shells_own_complaint_is_no_text_of_a_file(tmp_path: Path) -> None:
    said = "cat: a: No such file or directory\n"
    asked = chat_asks(("c", "bash", {"command": "cat a"}))

    assert calls(runs(chat(asked, chat_gave("c", said)), tmp_path)[0])[0].is_error


def test_results_stored_as_the_text_of_their_json_are_the_results(tmp_path: Path) -> None:
    read: Json = [{"query": "a", "result": "1 | one\n2 | two", "success": True}]
    text = chat(
        {"role": "assistant", "content": [use("t1", "read_files", files=[{"path": "a"}])]},
        {"role": "user", "content": [gave("t1", json.dumps(read))]},
    )

    assert calls(runs(text, tmp_path)[0])[0].text == "one\ntwo\n"


@pytest.mark.parametrize("turn", [0, 1, 2])
@pytest.mark.parametrize("form", ["claude_code", "codex_rollout", "pi", "chat", "mini_swe_agent"])
def test_results_of_parallel_calls_find_them_in_any_order(
    form: str, turn: int, tmp_path: Path
) -> None:
    names = ["a", "b", "c"]
    given = names[turn:] + names[:turn]
    run = runs(PARALLEL[form](names, given), tmp_path)[0]

    assert [(r.target, r.text.strip()) for r in calls(run)] == [(n, f"of {n}") for n in names]
    assert run.steps == 1
    assert not run.report.notes["call without result"]


def pi_message(**message: Json) -> Shape:
    return {"type": "message", "message": message}


def cat(name: str) -> tuple[str, str, Json]:
    return name, "bash", {"command": f"cat {name}"}


PARALLEL: dict[str, Callable[[list[str], list[str]], str]] = {
    "claude_code": lambda names, given: lines(
        *(claude_answer("m1", use(n, "Read", file_path=n)) for n in names),
        *(claude_user(gave(n, f"     1→of {n}")) for n in given),
    ),
    "codex_rollout": lambda names, given: lines(
        META,
        *(codex_call(n, "shell", command=["cat", n]) for n in names),
        *(codex_gave(n, f"Exit code: 0\nOutput:\nof {n}") for n in given),
    ),
    "pi": lambda names, given: lines(
        {"type": "session", "cwd": "/w"},
        pi_message(
            role="assistant",
            content=[
                {"type": "toolCall", "id": n, "name": "read", "arguments": {"path": n}}
                for n in names
            ],
        ),
        *(pi_message(role="toolResult", toolCallId=n, content=f"of {n}") for n in given),
    ),
    "chat": lambda names, given: chat(
        chat_asks(*map(cat, names)),
        *(chat_gave(n, f"of {n}") for n in given),
    ),
    "mini_swe_agent": lambda names, given: mini(
        chat_asks(*map(cat, names)),
        *(chat_gave(n, f"<returncode>0</returncode>\n<output>\nof {n}\n</output>") for n in given),
    ),
}


def test_a_shell_stays_where_it_went(tmp_path: Path) -> None:
    def where(directory: str) -> str:
        return f"of it\n[Current working directory: {directory}]\n"

    def ran(number: int, command: str, directory: str) -> list[Json]:
        metadata: Json = {"working_dir": directory, "exit_code": 0}
        return [
            {"id": number, "source": "agent", "action": "run", "args": {"command": command}},
            {
                "id": number + 1,
                "cause": number,
                "observation": "run",
                "content": "of it",
                "extras": {"metadata": metadata},
            },
        ]

    in_chat = chat(
        chat_asks(("c1", "bash", {"command": "cat a"})),
        chat_gave("c1", where("/w")),
        chat_asks(("c2", "bash", {"command": "cd src"})),
        chat_gave("c2", where("/w/src")),
        chat_asks(("c3", "bash", {"command": "cat b"})),
        chat_gave("c3", where("/w/src")),
        chat_asks(("c4", "view", {"path": "/w/src/b"})),
        chat_gave("c4", "     1\tof it\n"),
    )
    in_events = openhands(
        *ran(1, "cat a", "/w"),
        *ran(3, "cd src", "/w/src"),
        *ran(5, "cat /w/src/b", "/w/src"),
        *ran(7, "cat b", "/w/src"),
    )
    in_claude = lines(
        *(
            claude_answer(f"m{n}", use(f"t{n}", "Bash", command=command), cwd=directory)
            for n, (command, directory) in enumerate(
                [("cat a", "/w"), ("cd src", "/w"), ("cat b", "/w/src"), ("cat /w/src/b", "/w/src")]
            )
        )
    )
    for text in (in_chat, in_events, in_claude):
        run = runs(text, tmp_path)[0]
        assert [record.target for record in calls(run)] == ["a", None, "src/b", "src/b"]


# Claude Code's


def test_two_results_in_one_line_keep_their_own_text(tmp_path: Path) -> None:
    stored: Json = {"file": {"filePath": "/w/a", "content": "of a", "startLine": 1}}
    run = runs(
        lines(
            claude_answer(
                "m1", use("t1", "Read", file_path="/w/a"), use("t2", "Read", file_path="/w/b")
            ),
            claude_user(gave("t1", "     1→of a"), gave("t2", "     1→of b"), toolUseResult=stored),
        ),
        tmp_path,
    )[0]

    assert [record.text.strip() for record in calls(run)] == ["of a", "of b"]


def test_an_answer_that_another_interrupts_keeps_its_later_blocks(tmp_path: Path) -> None:
    run = runs(
        lines(
            claude_user(words("Fix.")),
            claude_answer("m1", words("one")),
            claude_answer("m2", words("two")),
            claude_answer("m1", words("three")),
            claude_answer("m1", words("one")),
        ),
        tmp_path,
    )[0]

    assert [word in sent(run) for word in ("one", "two", "three")] == [True] * 3
    assert sent(run).count("one") == 1


def test_the_streamed_form_of_a_claude_session_is_read(tmp_path: Path) -> None:
    def line(value: Shape) -> Shape:
        return {k: v for k, v in value.items() if k != "sessionId"} | {"session_id": "s"}

    inner = line(claude_answer("m9", words("inner"))) | {"parent_tool_use_id": "t1"}
    run = runs(
        lines(
            {"type": "system", "subtype": "init", "session_id": "s", "cwd": "/w"},
            line(claude_answer("m1", use("t1", "Read", file_path="/w/a"))),
            inner,
            line(claude_user(gave("t1", "     1→of a"))),
            {"type": "result", "subtype": "success", "session_id": "s", "result": "Done."},
        ),
        tmp_path,
    )[0]

    assert (run.format, run.steps) == ("claude_code", 1)
    assert [(record.target, record.text) for record in calls(run)] == [("a", "of a\n")]
    assert run.report.notes["sidechain line, in no main context"] == 1
    assert not run.report.not_understood


def test_a_servers_own_tool_gets_its_result(tmp_path: Path) -> None:
    searched: Json = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    found: Json = {
        "type": "web_search_tool_result",
        "tool_use_id": "s1",
        "content": [{"type": "web_search_result", "title": "seen-here"}],
    }
    for text in (
        lines(claude_user(words("Fix.")), claude_answer("m1", searched, found)),
        chat({"role": "assistant", "content": [searched, found]}),
    ):
        run = runs(text, tmp_path)[0]
        assert ["seen-here" in record.text for record in calls(run)] == [True]
        assert not run.report.not_understood


# Codex's


def test_a_token_count_after_the_results_opens_no_request(tmp_path: Path) -> None:
    def count(total: int) -> Shape:
        usage: Json = {"input_tokens": total, "output_tokens": 1}
        info: Json = {"total_token_usage": usage, "last_token_usage": usage}
        return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}

    run = runs(
        lines(
            META,
            codex_call("c1", "shell", command=["cat", "a"]),
            codex_gave("c1", "of a"),
            count(700),
            codex_call("c2", "shell", command=["cat", "b"]),
            codex_gave("c2", "of b"),
            count(900),
            {"type": "compacted", "payload": {"message": "So far."}},
            count(100),
        ),
        tmp_path,
    )[0]

    assert run.steps == 2
    assert [r.usage.input for r in run.records if r.usage] == [700, 900]


def test_a_compaction_closes_the_answer_before_it(tmp_path: Path) -> None:
    run = runs(
        lines(
            META,
            codex(type="message", role="assistant", content=[{"type": "output_text", "text": "a"}]),
            {
                "type": "compacted",
                "payload": {"message": "", "replacement_history": [{"type": "message"}]},
            },
            codex(type="message", role="assistant", content=[{"type": "output_text", "text": "b"}]),
        ),
        tmp_path,
    )[0]

    assert run.steps == 2
    assert run.report.notes["compaction"] == 1


def test_a_first_piece_of_output_is_not_the_whole_file(tmp_path: Path) -> None:
    head = "Chunk ID: 1\nProcess running with session ID 7\nOutput:\n"
    run = runs(
        lines(
            META,
            codex_call("c1", "exec_command", cmd="cat a"),
            codex_gave("c1", head + "one\n"),
            codex_call("c2", "write_stdin", session_id=7, chars=""),
            codex_gave("c2", "Process exited with code 0\nOutput:\ntwo\n"),
        ),
        tmp_path,
    )[0]

    assert [(r.kind, r.target, r.exact) for r in calls(run)] == [(ObsKind.READ, "a", False)] * 2


def test_a_file_that_looks_like_an_old_result_is_the_file(tmp_path: Path) -> None:
    text = '{"output": "dist"}\n'
    run = runs(
        lines(META, codex_call("c1", "shell_command", command="cat a"), codex_gave("c1", text)),
        tmp_path,
    )[0]

    assert (calls(run)[0].kind, calls(run)[0].text) == (ObsKind.READ, text)


@pytest.mark.parametrize(
    "cut",
    [
        "…812 tokens truncated…",
        "…9312 chars truncated…",
        "[... omitted 240 of 496 lines ...]",
        "... [212 lines truncated] ...",
        "[... Observation truncated due to length ...]",
        "... [9312 characters truncated] ...",
    ],
)
def test_a_result_cut_by_the_client_is_not_the_files_lines(cut: str, tmp_path: Path) -> None:
    asked = chat_asks(("c", "bash", {"command": "cat a"}))
    run = runs(chat(asked, chat_gave("c", f"one\n{cut}\nlast\n")), tmp_path)[0]

    assert calls(run)[0].kind is ObsKind.READ
    assert not calls(run)[0].exact


# OpenHands'


def test_pairs_without_ids_meet_by_their_place(tmp_path: Path) -> None:
    def pair(command: str, output: Json) -> Json:
        action: Json = {"action": "run", "source": "agent", "args": {"command": command}}
        return [action, output]

    run = runs(
        openhands(
            pair("cat a", {"observation": "run", "content": "of a", "extras": {}}),
            pair("cat b", {"observation": "run", "content": "of b", "extras": {}}),
            pair("make", None),
        ),
        tmp_path,
    )[0]

    assert [record.text for record in calls(run)] == ["of a", "of b", ""]
    assert run.report.notes["call without result"] == 1
    assert not run.report.not_understood


def test_a_condensation_is_a_message_and_no_call(tmp_path: Path) -> None:
    run = runs(
        openhands(
            {"id": 1, "source": "agent", "action": "run", "args": {"command": "make"}},
            {"id": 2, "cause": 1, "observation": "run", "content": "ok"},
            {
                "id": 3,
                "source": "agent",
                "action": "condensation",
                "args": {"summary": "So far.", "forgotten_event_ids": [1]},
            },
        ),
        tmp_path,
    )[0]

    assert (run.steps, len(calls(run))) == (1, 1)
    assert "So far." in sent(run)


def test_a_viewed_directory_is_a_listing(tmp_path: Path) -> None:
    said = "Here's the files and directories up to 2 levels deep in /w/src, excluding hidden items:"
    run = runs(
        openhands(
            {"id": 1, "source": "agent", "action": "read", "args": {"path": "/w/src"}},
            {"id": 2, "cause": 1, "observation": "read", "content": f"{said}\n/w/src/a\n"},
        ),
        tmp_path,
    )[0]

    assert [record.kind for record in calls(run)] == [ObsKind.FIND]


# mini-swe-agent's and SWE-agent's


def test_tool_calls_of_a_mini_trajectory_are_calls(tmp_path: Path) -> None:
    run = runs(
        mini(
            chat_asks(("c1", "bash", {"command": "cat a"}), ("c2", "bash", {"command": "cat b"})),
            chat_gave("c1", "<returncode>0</returncode>\n<output>\nof a\n</output>"),
            chat_gave("c2", "<returncode>1</returncode>\n<output>\nno b\n</output>"),
        ),
        tmp_path,
    )[0]

    assert [(r.target, r.text, r.is_error) for r in calls(run)] == [
        ("a", "of a\n", False),
        ("b", "no b\n", True),
    ]


def test_a_task_told_in_blocks_or_only_to_the_model_is_kept(tmp_path: Path) -> None:
    entry: Json = {
        "action": "ls",
        "observation": "a",
        "query": [{"role": "system", "content": "x"}, {"role": "user", "content": "The task."}],
    }

    assert "The task." in sent(
        runs(swe([{"role": "user", "content": [words("The task.")]}], entry), tmp_path)[0]
    )
    assert "The task." in sent(runs(swe([], entry), tmp_path)[0])


# pi's


def test_only_the_branch_that_was_gone_on_with_is_in_the_context(tmp_path: Path) -> None:
    def said(number: str, parent: str | None, role: str, text: str) -> Shape:
        message: Json = {"role": role, "content": text}
        return {"type": "message", "id": number, "parentId": parent, "message": message}

    run = runs(
        lines(
            {"type": "session", "version": 3, "cwd": "/w"},
            said("a", None, "user", "Fix."),
            said("b", "a", "assistant", "left"),
            said("c", "a", "assistant", "kept"),
        ),
        tmp_path,
    )[0]

    assert ["left" in sent(run), "kept" in sent(run), run.steps] == [False, True, 1]
    assert run.report.notes["line of another branch"] == 1


def test_commands_of_the_user_that_stay_outside_are_counted(tmp_path: Path) -> None:
    def ran(output: str, **more: Json) -> Shape:
        message: Shape = {"role": "bashExecution", "command": "make", "output": output}
        return {"type": "message", "message": message | more}

    run = runs(
        lines(
            {"type": "session", "cwd": "/w"},
            ran("one"),
            ran("two"),
            ran("three", excludeFromContext=True),
        ),
        tmp_path,
    )[0]

    assert [record.text for record in calls(run)] == ["one", "two"]
    assert run.report.notes["user's command, kept out of the context"] == 1


# Files


@pytest.mark.parametrize("name", SAMPLES)
def test_a_byte_order_mark_loses_nothing(name: str, tmp_path: Path) -> None:
    plain, marked = (runs(mark + SAMPLES[name](), tmp_path)[0] for mark in ("", "\ufeff"))

    assert marked.records == plain.records
    assert marked.report == plain.report


@pytest.mark.parametrize("name", [n for n in SAMPLES if "\n" not in SAMPLES[n]().strip()])
def test_a_pretty_printed_file_with_a_raw_control_character_is_read(
    name: str, tmp_path: Path
) -> None:
    pretty = json.dumps(json.loads(SAMPLES[name]()), indent=1).replace("Fix", "Fix\x01")

    assert "\x01" in sent(runs(pretty, tmp_path)[0])


@pytest.mark.parametrize("name", ["chat anthropic", "openhands", "swe_agent"])
def test_runs_on_lines_stay_apart_though_one_of_them_is_empty(name: str, tmp_path: Path) -> None:
    run = json.loads(SAMPLES[name]())
    empty = {key: [] if isinstance(value, list) else value for key, value in run.items()}
    found = runs(lines(run, empty, run, {"error": "no run"}), tmp_path)

    assert [each.steps for each in found] == [runs(SAMPLES[name](), tmp_path)[0].steps] * 2
    assert found[0].report.notes["run without a record"] == 2


@pytest.mark.parametrize("name", ["claude_code", "pi"])
def test_two_sessions_in_one_file_are_two_runs(name: str, tmp_path: Path) -> None:
    def session(number: int) -> str:
        text = SAMPLES[name]().replace("Fix", f"Fix {number}")
        named = f'"sessionId": "{number}", "uuid": "{number}'
        return text.replace('"uuid": "', named) if name == "claude_code" else text

    single = runs(SAMPLES[name](), tmp_path)[0]
    found = runs(session(1) + session(2), tmp_path)

    assert [run.steps for run in found] == [single.steps] * 2
    assert [len(run.records) for run in found] == [len(single.records)] * 2
    assert [run.path[-2:] for run in found] == ["#1", "#2"]


def test_a_log_of_requests_is_one_run_and_not_one_a_request(tmp_path: Path) -> None:
    messages = json.loads(SAMPLES["chat"]())
    requests: list[Json] = [
        {"model": "m", "messages": messages[:end]}
        for end in range(1, len(messages) + 1)
        if messages[end - 1]["role"] != "assistant"
    ]
    other: Json = {"model": "m", "messages": [TASK]}
    found = runs(lines(*requests, other, other), tmp_path)

    assert found[0].records == runs(SAMPLES["chat"](), tmp_path)[0].records
    assert [len(run.records) for run in found[1:]] == [1, 1]
    assert found[0].report.notes["run that the next one goes on with"] == 3


def test_a_session_that_goes_on_with_another_is_one_run_with_it(tmp_path: Path) -> None:
    run = runs(
        lines(
            claude_user(words("Fix."), uuid="a"),
            claude_answer("m1", words("one"), uuid="b", parentUuid="a"),
            {"type": "summary", "summary": "x"},
            claude_user(words("More."), uuid="c", parentUuid="b", sessionId="t"),
            claude_answer("m2", words("two"), uuid="d", parentUuid="c", sessionId="t"),
        ),
        tmp_path,
    )

    assert [each.steps for each in run] == [2]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_order_of_keys_decides_nothing(name: str, tmp_path: Path) -> None:
    def turned(value: Json) -> Json:
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(value)}
        return [turned(each) for each in value] if isinstance(value, list) else value

    text = SAMPLES[name]()
    other = "".join(json.dumps(turned(json.loads(line))) + "\n" for line in text.splitlines())
    first, second = (runs(each, tmp_path)[0].records for each in (text, other))

    assert [(r.step, r.call, r.kind, r.target, r.text) for r in first] == [
        (r.step, r.call, r.kind, r.target, r.text) for r in second
    ]


# Tools by other names


@pytest.mark.parametrize(
    ("name", "args", "after"),
    [
        ("str_replace", {"path": "a", "old_str": "two", "new_str": "2"}, "one\n2\nthree\n"),
        ("write_file", {"path": "a", "content": "new\n"}, "new\n"),
        ("insert", {"path": "a", "insert_line": 1, "new_str": "x"}, "one\nx\ntwo\nthree\n"),
        ("insert", {"path": "a", "insert_line": 0, "insert_text": "x\n"}, "x\none\ntwo\nthree\n"),
        (
            "str_replace_based_edit_tool",
            {"command": "insert", "path": "a", "insert_line": 3, "new_str": "x"},
            "one\ntwo\nthree\nx\n",
        ),
        ("str_replace_editor", {"command": "create", "path": "a", "file_text": "new\n"}, "new\n"),
        ("apply_patch", {"input": "*** Begin Patch\n*** Delete File: a\n*** End Patch"}, None),
        ("undo_edit", {"path": "a"}, None),
        ("delete_file", {"path": "a"}, None),
        ("append_to_file", {"path": "a", "content": "x\n"}, "one\ntwo\nthree\nx\n"),
        ("container.exec", {"cmd": ["bash", "-lc", "echo x >> a"]}, "one\ntwo\nthree\nx\n"),
    ],
)
def test_a_write_by_any_usual_name_is_followed(
    name: str, args: Json, after: str | None, tmp_path: Path
) -> None:
    from io_harness.replay.files import FileTexts

    run = runs(
        chat(
            chat_asks(("c1", "read_file", {"path": "a"})),
            chat_gave("c1", "one\ntwo\nthree\n"),
            chat_asks(("c2", name, args)),
            chat_gave("c2", "Done."),
        ),
        tmp_path,
    )[0]
    files = FileTexts.empty()
    for record in run.records:
        files.take(record)

    assert calls(run)[1].kind is ObsKind.WRITE
    assert files.lines("a", 1, None) == after


@pytest.mark.parametrize(
    ("name", "args", "lines_read"),
    [
        ("read_file", {"path": "a", "offset": 5, "limit": 2}, (5, 6)),
        ("read_file", {"target_file": "a", "start_line": 5, "end_line": 6}, (5, 6)),
        (
            "read_file",
            {
                "absolute_path": "a",
                "start_line_one_indexed": 5,
                "end_line_one_indexed_inclusive": 6,
            },
            (5, 6),
        ),
        ("view", {"path": "a", "view_range": [5, 6]}, (5, 6)),
        ("view", {"path": "a", "view_range": [5, -1]}, (5, 6)),
        ("view", {"path": "a", "view_range": "[5, 6]"}, (5, 6)),
        ("Read", {"file_path": "a", "offset": "5", "limit": "2"}, (5, 6)),
    ],
)
def test_the_lines_asked_for_are_found_by_any_usual_name(
    name: str, args: Json, lines_read: tuple[int, int], tmp_path: Path
) -> None:
    run = runs(chat(chat_asks(("c1", name, args)), chat_gave("c1", "x\ny\n")), tmp_path)[0]

    assert (calls(run)[0].target, calls(run)[0].lines) == ("a", lines_read)
