"""Everything that can be set: one frozen section a component, passed on by section."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args, get_origin
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from orchestrator.contracts.ids import is_chat_id, is_folder_name
from orchestrator.settings.api import ApiSettings
from orchestrator.settings.events import EventSettings
from orchestrator.settings.programs import ProgramSettings
from orchestrator.settings.section import MIB, ListOf, Number, Section, TableOf, Whole, program_first
from orchestrator.settings.spawn import SpawnSettings, WorkspaceSettings
from orchestrator.settings.voice import VoiceSettings
from orchestrator.settings.whatsapp import WhatsAppSettings

_CHAT_IDS: Final = ListOf(what="chat ids", example='["491701234567@s.whatsapp.net"]')
_SERVERS: Final = TableOf(what="tables of tool servers", example="[agent.mcp_servers.NAME]")
_PROVIDERS: Final = TableOf(
    what="tables of providers", example='[providers.NAME] with base_url = "https://…"'
)
_FOLDERS: Final = ListOf(what="folders of groups", example='["family"]')
_ARGV: Final = ListOf(
    what="words of a command", example='["/usr/bin/mail", "-s", "Dovecote", "me@example.org"]'
)


def is_timezone(name: str) -> bool:
    """Whether `name` is an IANA timezone that this machine knows."""
    try:
        ZoneInfo(name)
    # ZoneInfo raises OSError and its kin for names that are directories or too long.
    except (ValueError, OSError, LookupError):
        return False
    return True


def _known_timezone(name: str) -> str:
    if not is_timezone(name):
        raise ValueError("is not an IANA timezone, such as Europe/Berlin")
    return name


def _all_chat_ids(ids: tuple[str, ...]) -> tuple[str, ...]:
    if not all(is_chat_id(each) for each in ids):
        raise ValueError("holds what is not the id of a person")
    return ids


def _all_folders(names: tuple[str, ...]) -> tuple[str, ...]:
    if not all(is_folder_name(each) for each in names):
        raise ValueError("holds what is not the folder of a group")
    return names


class AssistantSettings(Section):
    """Who the assistant is, where a group does not say otherwise."""

    name: str = Field(
        "Assistant",
        min_length=1,
        max_length=64,
        description="its name in groups made from now on, `@Name` their trigger; one that is there is "
        "changed by `dovecote group set FOLDER assistant_name=Name trigger=@Name`",
    )
    timezone: Annotated[str, AfterValidator(_known_timezone)] = Field(
        "UTC", description="IANA timezone of its answers; without it `TZ`, then the system's"
    )
    locale: str = Field(
        "en",
        min_length=2,
        max_length=35,
        description="language of the sentences Dovecote says in groups made from now on; one that is there "
        "is changed by `dovecote group set FOLDER locale=…`",
    )
    operators: Annotated[tuple[str, ...], AfterValidator(_all_chat_ids), _CHAT_IDS] = Field(
        (), description="JIDs of the people who may command it, besides those in the main chat"
    )
    auto_register: Literal["off", "ask", "on"] = Field(
        "ask",
        description="what happens when it is added to a group chat: nothing, it asks in the main chat, or it "
        "answers there at once, whoever added it",
    )
    main_members: Literal["listed", "everyone"] = Field(
        "listed", description="who commands it in a main chat that is a group: only `operators`, or all"
    )
    bots: Annotated[tuple[str, ...], AfterValidator(_all_chat_ids), _CHAT_IDS] = Field(
        (), description="JIDs of programs that write into chats, where the network does not say so"
    )


class QueueSettings(Section):
    """How many agents run at once, and how much one turn is given to read."""

    max_running: Whole = Field(5, ge=1, le=200, description="turns at once")
    max_live: Whole = Field(20, ge=1, le=1000, description="live containers at once, idle ones too")
    batch_max_messages: Whole = Field(200, ge=1, le=10_000, description="messages one turn is given at most")
    batch_max_bytes: Whole = Field(
        200_000, ge=1_000, le=10_000_000, description="bytes one turn is given at most"
    )


class BoundSettings(Section):
    """How often members and bots may set it off; 0 is no bound. Operators and main have none."""

    triggers_per_sender: Whole = Field(20, ge=0, le=100_000, description="triggers of a person in an hour")
    turns_per_chat: Whole = Field(60, ge=0, le=100_000, description="turns in a chat in an hour")
    bot_turns_in_a_row: Whole = Field(
        5, ge=0, le=10_000, description="turns in a row that only bots set off, in an hour"
    )


class QuestionSettings(Section):
    """What agents may ask of people."""

    max_open: Whole = Field(3, ge=1, le=100, description="open questions in a chat")
    expire_s: Number = Field(
        86_400, ge=1, le=30 * 86_400, description="a question that nobody answers is closed after this"
    )


class AgentSettings(Section):
    """What runs as an agent, in which walls, with which limits."""

    provider: str = Field(
        "builtin",
        pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$",
        min_length=1,
        max_length=64,
        description="what answers, where no `AGENT.md` says otherwise: see `dovecote provider list`",
    )
    permissions: Literal["deny-all", "approve-reads", "approve-all"] = Field(
        "approve-reads", description="what an agent's program may do unasked, likewise"
    )
    mcp_servers: Annotated[dict[str, dict[str, Any]], _SERVERS] = Field(
        default_factory=dict,
        description="tool servers of all agents, by name: `command`, `args` and `env`, or `url`",
    )
    runner: Literal["auto", "docker", "bubblewrap", "process"] = Field(
        "auto", description="what builds the walls"
    )
    image: str | None = Field(
        None,
        min_length=1,
        max_length=256,
        description="image of the docker runner, if not the one that `dovecote image build` makes",
    )
    engine_url: str | None = Field(
        None, min_length=1, max_length=1024, description="the Docker engine, if not the one of this machine"
    )
    bwrap: Path | None = Field(
        None, description="the `bwrap` program, if not the system's or the bundled one; `/bin/false` for none"
    )
    allow_unisolated: bool = Field(
        False, description="let a driver that runs commands of a model run without walls"
    )
    container_timeout_s: Number = Field(1800, ge=120, le=86_400, description="silence in a turn that ends it")
    turn_limit_s: Number = Field(7200, ge=120, le=86_400, description="longest turn")
    idle_timeout_s: Number = Field(600, ge=1, le=86_400, description="an idle agent is closed after this")
    start_timeout_s: Number = Field(60, ge=1, le=3600, description="longest start, until it has its input")
    stop_grace_s: Number = Field(10, ge=0, le=300, description="time between SIGTERM and SIGKILL")
    memory_bytes: Whole = Field(1024 * MIB, ge=64 * MIB, le=1024**4, description="memory of one container")
    processes: Whole = Field(256, ge=16, le=32_768, description="processes in one container")
    cpus: Number = Field(2.0, ge=0.1, le=256, description="CPUs of one container")
    workspace_bytes: Whole = Field(
        5 * 1024 * MIB,
        ge=MIB,
        le=1024**5,
        description="bytes in a group's workspace; over it the agent is stopped",
    )
    home_bytes: Whole = Field(
        2 * 1024 * MIB, ge=MIB, le=1024**5, description="bytes in a group's session homes; likewise"
    )
    max_files: Whole = Field(
        100_000, ge=100, le=10_000_000, description="files and directories in a workspace or in session homes"
    )
    uid_range_start: Whole = Field(
        64_100,
        ge=1_000,
        le=2**31,
        description="first uid of the groups' agents, where the orchestrator is root",
    )


class OutboxSettings(Section):
    """How texts leave."""

    retry_for_s: Number = Field(86_400, ge=0, le=7 * 86_400, description="a text is tried for so long")
    on_unknown_send: Literal["resend", "hold"] = Field(
        "resend", description="what happens to a text whose acceptance is unknown"
    )
    backoff_first_s: Number = Field(
        2, ge=0.05, le=600, description="wait before the second try, then doubling"
    )
    backoff_most_s: Number = Field(300, ge=1, le=3600, description="longest wait between tries")
    quote_trigger: bool = Field(
        False, description="whether an answer quotes the message that it answers, where the network can"
    )


class AttachmentSettings(Section):
    """Files of chats, in both directions."""

    max_file_bytes: Whole = Field(
        16 * MIB,
        ge=1,
        le=2 * 1024**3,
        description="bytes of one file; WhatsApp takes 16 MiB of pictures and sound, 100 MB of documents",
    )
    max_count: Whole = Field(10, ge=0, le=100, description="files of one message")
    max_waiting_bytes: Whole = Field(
        256 * MIB, ge=1, le=1024**4, description="bytes of files that may wait to be sent to one chat"
    )


class IpcSettings(Section):
    """What agents may do with their boxes."""

    poll_s: Number = Field(1, ge=0.05, le=60, description="boxes are looked at so often, events or not")
    rate_per_minute: Whole = Field(120, ge=1, le=1_000_000, description="requests a minute and box")
    burst: Whole = Field(60, ge=1, le=1_000_000, description="requests at once, before the rate counts")
    max_entries: Whole = Field(10_000, ge=10, le=1_000_000, description="entries in a directory of a box")
    max_box_bytes: Whole = Field(64 * MIB, ge=MIB, le=1024**4, description="bytes in a box")


class TaskSettings(Section):
    """Scheduled prompts."""

    max_per_group: int = Field(100, ge=1, le=100_000, description="active and paused tasks of a group")
    min_interval_s: float = Field(60, ge=1, le=86_400, description="shortest interval of a task")
    misfire_grace_s: float = Field(
        86_400, ge=60, le=30 * 86_400, description="a missed run is made up for within this"
    )
    timeout_s: float = Field(7200, ge=1, le=86_400, description="longest run of a task")


class AlertSettings(Section):
    """How operators are told what they should not miss."""

    command: Annotated[tuple[str, ...], AfterValidator(program_first), _ARGV] = Field(
        (),
        description="program and arguments, run without a shell, that gets on its standard input what nobody "
        "would read in the main chat",
    )
    main_is_watched: bool = Field(
        True, description="whether somebody reads the main chat; if not, `alerts.command` is told as well"
    )


class LogSettings(Section):
    """What is logged, and how much of it is kept."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="least level that is logged"
    )
    max_bytes: Whole = Field(
        10 * MIB, ge=64 * 1024, le=1024**3, description="size at which a log file is rotated"
    )
    keep: Whole = Field(5, ge=1, le=100, description="rotated files that are kept")


class Settings(BaseSettings):
    """Everything that can be set. `Settings()` is the defaults; `load_settings` reads a home."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    assistant: AssistantSettings = AssistantSettings()
    queue: QueueSettings = QueueSettings()
    bounds: BoundSettings = BoundSettings()
    questions: QuestionSettings = QuestionSettings()
    agent: AgentSettings = AgentSettings()
    programs: ProgramSettings = ProgramSettings()
    outbox: OutboxSettings = OutboxSettings()
    attachments: AttachmentSettings = AttachmentSettings()
    ipc: IpcSettings = IpcSettings()
    tasks: TaskSettings = TaskSettings()
    spawn: SpawnSettings = SpawnSettings()
    workspaces: WorkspaceSettings = WorkspaceSettings()
    alerts: AlertSettings = AlertSettings()
    logs: LogSettings = LogSettings()
    api: ApiSettings = ApiSettings()
    events: EventSettings = EventSettings()
    voice: VoiceSettings = VoiceSettings()
    whatsapp: WhatsAppSettings = WhatsAppSettings()
    providers: Annotated[dict[str, dict[str, Any]], _PROVIDERS] = Field(
        default_factory=dict,
        description="what is other than in the shipped `providers.toml`, such as `providers.NAME.base_url`",
    )
    register_group_from: Annotated[tuple[str, ...], AfterValidator(_all_folders), _FOLDERS] = Field(
        (), description="groups, besides main, whose agents may ask for other chats to be registered"
    )
    message_poll_s: Number = Field(2, ge=0.05, le=60, description="waiting messages are looked at so often")
    shutdown_grace_s: Number = Field(
        20, ge=0, le=600, description="running turns may end within this at a stop"
    )
    still_working_s: Number = Field(120, ge=1, le=86_400, description="silence after which the chat is told")
    typing_renew_s: Number = Field(4, ge=0.5, le=60, description="the typing indicator is renewed so often")
    keep_messages_days: Whole = Field(
        365,
        ge=1,
        le=36_500,
        description="settled messages, texts sent, tasks that are over, runs and usage are kept so long",
    )
    disk_floor_bytes: Whole = Field(500 * MIB, ge=0, le=1024**5, description="below this no agent starts")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what is passed in: the environment is a value here, so that each key's origin is known."""
        return (init_settings,)


def setting_fields() -> Iterator[tuple[str, FieldInfo]]:
    """Every setting as `section.name` with its definition, in the order of the tree."""
    for name, info in Settings.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, Section):
            for inner, inner_info in info.annotation.model_fields.items():
                yield f"{name}.{inner}", inner_info
        else:
            yield name, info


def is_list(info: FieldInfo) -> bool:
    """Whether the setting holds several values."""
    return get_origin(info.annotation) is tuple


def _table_of(info: FieldInfo) -> TableOf | None:
    return next((each for each in info.metadata if isinstance(each, TableOf)), None)


def _list_of(info: FieldInfo) -> ListOf:
    return next(each for each in info.metadata if isinstance(each, ListOf))


def what_it_must_be(info: FieldInfo) -> str:
    """`allowed_values` as part of a sentence; empty where there is nothing to say."""
    allowed = allowed_values(info)
    if (table := _table_of(info)) is not None:
        return f"{table.what}, such as {table.example}"
    if is_list(info):
        return f"a list of {allowed}, such as {_list_of(info).example}"
    if info.annotation is int:
        return f"a whole number from {allowed}"
    return f"a number from {allowed}" if info.annotation is float else allowed


def allowed_values(info: FieldInfo) -> str:
    """What a setting may be, in words: `1 to 200`, `resend | hold`."""
    if choices := [each for each in get_args(info.annotation) if isinstance(each, str)]:
        return " | ".join(choices)
    if (table := _table_of(info)) is not None:
        return table.what
    if is_list(info):
        return _list_of(info).what
    if info.annotation is bool:
        return "true | false"
    bounds = {
        name: getattr(each, name) for each in info.metadata for name in ("ge", "le") if hasattr(each, name)
    }
    if bounds:
        return f"{bounds['ge']:,} to {bounds['le']:,}".replace(",", "_")
    lengths = {n: getattr(m, n) for m in info.metadata for n in ("min_length", "max_length") if hasattr(m, n)}
    return f"{lengths['min_length']} to {lengths['max_length']} characters" if lengths else ""
