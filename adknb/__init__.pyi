from .analysis.contract import (
    Contract as Contract,
    contract as contract,
)
from .analysis.findings import (
    Finding as Finding,
    Lint as Lint,
)
from .analysis.lint import lint as lint
from .compare.comparison import Comparison as Comparison
from .compare.dry import (
    PromptComparison as PromptComparison,
    compare_prompts as compare_prompts,
)
from .compare.inputs import Input as Input
from .compare.lab import compare_variants as compare_variants
from .compare.portability import (
    Portability as Portability,
    portability as portability,
)
from .compare.store import Store as Store
from .compare.variants import Variant as Variant
from .core.content import (
    Blob as Blob,
    CodeExecutionResult as CodeExecutionResult,
    Content as Content,
    ExecutableCode as ExecutableCode,
    FunctionCall as FunctionCall,
    FunctionResponse as FunctionResponse,
    Part as Part,
)
from .core.errors import (
    AdknbError as AdknbError,
    AgentError as AgentError,
    AgentNameError as AgentNameError,
    CassetteMissError as CassetteMissError,
    ContextLengthError as ContextLengthError,
    LlmCallsLimitExceededError as LlmCallsLimitExceededError,
    MissingArtifactError as MissingArtifactError,
    MissingKeyError as MissingKeyError,
    ModelConnectionError as ModelConnectionError,
    ModelError as ModelError,
    ModelTimeoutError as ModelTimeoutError,
    NotSupported as NotSupported,
    OutputSchemaError as OutputSchemaError,
    PipelineChangedError as PipelineChangedError,
    ReplyMissingError as ReplyMissingError,
    RunStateError as RunStateError,
    SessionFormatError as SessionFormatError,
    SessionStoreError as SessionStoreError,
    SpecError as SpecError,
    StaleSessionError as StaleSessionError,
    StateValueError as StateValueError,
    TransferError as TransferError,
    UnknownCallError as UnknownCallError,
)
from .core.events import (
    Event as Event,
    EventActions as EventActions,
)
from .core.protocols import (
    ArtifactService as ArtifactService,
    ContextStrategy as ContextStrategy,
    History as History,
    InvocationContext as InvocationContext,
    Model as Model,
    SessionService as SessionService,
    TokenCounter as TokenCounter,
)
from .core.requests import (
    LlmRequest as LlmRequest,
    LlmResponse as LlmResponse,
    Request as Request,
    Segment as Segment,
)
from .core.run import (
    Run as Run,
    RunConfig as RunConfig,
    Session as Session,
    StepRun as StepRun,
)
from .core.specs import (
    BaseAgent as BaseAgent,
    GenerateContentConfig as GenerateContentConfig,
    IncludeContents as IncludeContents,
    LlmAgent as LlmAgent,
    LoopAgent as LoopAgent,
    ParallelAgent as ParallelAgent,
    SequentialAgent as SequentialAgent,
)
from .core.state import State as State
from .core.tools import (
    FunctionTool as FunctionTool,
    LongRunningFunctionTool as LongRunningFunctionTool,
)
from .core.usage import Usage as Usage
from .models.echo import EchoModel as EchoModel
from .models.gemini import GeminiModel as GeminiModel
from .models.local import LocalModel as LocalModel
from .models.openai import OpenAIModel as OpenAIModel
from .models.replay import (
    ReplayModel as ReplayModel,
    recording as recording,
)
from .models.request_key import request_key as request_key
from .models.resolve import register_model as register_model
from .models.scripted import ScriptedModel as ScriptedModel
from .notebook.current import bench as bench
from .runtime.adopt import adopt as adopt
from .runtime.artifacts import InMemoryArtifactService as InMemoryArtifactService
from .runtime.callbacks import (
    CallbackContext as CallbackContext,
    ToolContext as ToolContext,
)
from .runtime.runner import Runner as Runner
from .sessions.adk_database import (
    AdkSessions as AdkSessions,
    open_adk_sessions as open_adk_sessions,
)
from .sessions.adk_json import read_adk_json as read_adk_json
from .sessions.database.service import DatabaseSessionService as DatabaseSessionService
from .sessions.documents import (
    export_session as export_session,
    import_session as import_session,
)
from .sessions.memory import InMemorySessionService as InMemorySessionService
from .tokens.prices import (
    Price as Price,
    set_prices as set_prices,
)
from .workflow.actions import ErrorAction as ErrorAction
from .workflow.adapters import (
    DataAdapter as DataAdapter,
    DataTransformer as DataTransformer,
    JsonAdapter as JsonAdapter,
)
from .workflow.backpressure import BackpressureController as BackpressureController
from .workflow.budget import TokenBudget as TokenBudget
from .workflow.cache import ResultCache as ResultCache
from .workflow.checkpoints import (
    Checkpoint as Checkpoint,
    Checkpoints as Checkpoints,
)
from .workflow.circuit import CircuitBreaker as CircuitBreaker
from .workflow.classifier import (
    Classification as Classification,
    ClassificationRule as ClassificationRule,
    ErrorCategory as ErrorCategory,
    ErrorClassifier as ErrorClassifier,
    ErrorSeverity as ErrorSeverity,
)
from .workflow.data import (
    PipelineData as PipelineData,
    PipelineError as PipelineError,
    PipelineMetadata as PipelineMetadata,
    register_migration as register_migration,
)
from .workflow.errors import (
    AdapterError as AdapterError,
    BudgetExceededError as BudgetExceededError,
    CacheError as CacheError,
    CheckpointError as CheckpointError,
    CircuitOpenError as CircuitOpenError,
    PayloadError as PayloadError,
    QueueFullError as QueueFullError,
    RefusedError as RefusedError,
    SchemaVersionError as SchemaVersionError,
    StepFailedError as StepFailedError,
    StepTimeoutError as StepTimeoutError,
    WorkflowChangedError as WorkflowChangedError,
    WorkflowTimeoutError as WorkflowTimeoutError,
    WriteConflictError as WriteConflictError,
)
from .workflow.events import StepEvent as StepEvent
from .workflow.handler import ErrorHandler as ErrorHandler
from .workflow.metrics import MetricsObserver as MetricsObserver
from .workflow.middleware import (
    CacheMiddleware as CacheMiddleware,
    LoggingMiddleware as LoggingMiddleware,
    Middleware as Middleware,
    StepReply as StepReply,
    StepRequest as StepRequest,
)
from .workflow.observers import (
    LoggingObserver as LoggingObserver,
    Observer as Observer,
)
from .workflow.outcome import StepOutcome as StepOutcome
from .workflow.plan import Plan as Plan
from .workflow.rate_limit import RateLimitMiddleware as RateLimitMiddleware
from .workflow.redaction import RedactionMiddleware as RedactionMiddleware
from .workflow.result import (
    WorkflowResult as WorkflowResult,
    WorkflowState as WorkflowState,
)
from .workflow.retry import (
    ExponentialBackoff as ExponentialBackoff,
    RetryPolicy as RetryPolicy,
)
from .workflow.step import Step as Step
from .workflow.telemetry import OpenTelemetryObserver as OpenTelemetryObserver
from .workflow.workflow import SequentialWorkflow as SequentialWorkflow

__version__: str

last: Run | Comparison | WorkflowResult | None

def load_ipython_extension(ipython: object) -> None: ...
