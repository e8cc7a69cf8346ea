/** `bolide`: models, agents, tools, structured output, streams, and the parts that servers are composed of. */
import { installTelemetry } from '../business/ai/infrastructure/telemetry/installTelemetry';
import { requireNode } from '../library/requireNode';

export { createHttpApi } from '../api/createHttpApi';
export type { HttpApi, HttpApiPorts } from '../api/createHttpApi';
export { AgenticLoop } from '../business/ai/application/services/AgenticLoop';
export type {
  AgenticLoopEvents,
  AgenticLoopOptions,
  ExecuteOptions,
  StartedRun,
} from '../business/ai/application/services/AgenticLoop';
export type { MessageChange, SendOptions, SentMessage } from '../business/ai/application/services/runs/MessageQueues';
export { LLMClient } from '../business/ai/application/services/LLMClient';
export type { LLMClientOptions } from '../business/ai/application/services/LLMClient';
export { LLMManager } from '../business/ai/application/services/LLMManager';
export type { LLMManagerOptions, TextOptions, ToolOptions } from '../business/ai/application/services/LLMManager';
export { ToolExecutionLoop } from '../business/ai/application/services/ToolExecutionLoop';
export { ResponseChainManager } from '../business/ai/application/services/ResponseChainManager';
export type { ChainOptions } from '../business/ai/application/services/ResponseChainManager';
export { ResponseHandler } from '../business/ai/application/services/ResponseHandler';
export type { MessageOptions, ResponseHandlerOptions } from '../business/ai/application/services/ResponseHandler';
export type { BatchOptions, BatchResult, LLMRequest } from '../business/ai/application/services/batches/runBatch';
export type { AnySchema, StandardSchema } from '../business/ai/domain/types/Schemas';
export { createGuardrails } from '../business/guardrails/createGuardrails';
export {
  BudgetError,
  ConflictError,
  GuardrailError,
  GuardrailFailureError,
  isLLMError,
  LLMAbortedError,
  LLMAuthError,
  LLMConnectionError,
  LLMContentFilterError,
  LLMContextLengthError,
  LLMError,
  LLMIncompleteError,
  LLMInvalidRequestError,
  LLMModelNotFoundError,
  LLMOverloadedError,
  LLMPermissionError,
  LLMQuotaError,
  LLMRateLimitError,
  LLMRefusalError,
  LLMServerError,
  LLMStreamError,
  LLMTimeoutError,
  MaxIterationsError,
  StructuredOutputError,
  ToolError,
  UnsupportedFeatureError,
} from '../business/ai/domain/errors/LLMErrors';
export type { EndedRun, ErrorCode, LLMErrorDetails, ToolFailure } from '../business/ai/domain/errors/LLMErrors';
export { runOf } from '../business/ai/domain/entities/Run';
export type { RunReport, RunResult, RunState } from '../business/ai/domain/entities/Run';
export type {
  BuiltInTool,
  FunctionTool,
  Tool,
  ToolCall,
  ToolCallState,
  ToolCaller,
  ToolDelivery,
  ToolKind,
} from '../business/ai/domain/entities/Tool';
export type { Guardrail } from '../business/ai/domain/interfaces/Guardrail';
export type { AccessCheck, ILLMProvider, ModelCapabilities } from '../business/ai/domain/interfaces/ILLMProvider';
export { ImageResult } from '../business/ai/domain/entities/ImageResult';
export type { IToolExecutor, ToolCallContext } from '../business/ai/domain/interfaces/IToolExecutor';
export type { SourceTool, ToolSource } from '../business/ai/domain/interfaces/ToolSource';
export type { ToolAdapter } from '../business/ai/domain/interfaces/ToolAdapter';
export type {
  FoundMemories,
  Memory,
  MemoryEntry,
  MemoryPage,
  MemoryQuery,
  NewMemory,
} from '../business/ai/domain/interfaces/Memory';
export type { RecallOption } from '../business/ai/application/services/runs/recallMemories';
export type { Logger } from '../business/ai/domain/interfaces/Logger';
export type {
  AgentEvent,
  AgentEventOf,
  CallOfRun,
  CallStep,
  FamilyEvent,
  AgentEventType,
  LocalAgentEvent,
} from '../business/ai/domain/types/AgentEvents';
export type {
  EmbeddingBatch,
  EmbeddingInput,
  Embeddings,
  EmbedOptions,
} from '../business/ai/domain/types/EmbeddingTypes';
export type { GuardrailSettings } from '../business/ai/domain/types/GuardrailSettings';
export type { GuardrailAnnotation } from '../business/ai/domain/types/GuardrailAnnotation';
export type {
  FilteredText,
  GuardedRequest,
  GuardrailContext,
  GuardrailVerdict,
  TextFilter,
} from '../business/ai/domain/types/GuardrailTypes';
export type {
  CacheLookup,
  CacheOptions,
  GenerateOptions,
  LLMInput,
  LooseMessage,
  LooseTool,
  PromptReference,
  ReasoningEffort,
  ResponseFormat,
  ToolChoice,
} from '../business/ai/domain/types/LLMTypes';
export type {
  Content,
  FunctionCallItem,
  FunctionCallOutputItem,
  HostedItem,
  InputItem,
  Item,
  LLMResponse,
  MessageItem,
  OutputItem,
  ReasoningItem,
  Usage,
} from '../business/ai/domain/types/ResponsesAPITypes';
export type { PromptCache } from '../business/ai/domain/types/LLMTypes';
export type {
  CompactionOptions,
  CompactionReader,
  CompactionStrategy,
  RunCompaction,
} from '../business/ai/domain/types/Compaction';
export type { ToolSearchOptions } from '../business/ai/domain/types/ToolSearch';
export type { Budget, RunLimits } from '../business/ai/domain/types/RunLimits';
export type { MessageTime, RunMessage } from '../business/ai/domain/types/RunMessages';
export type { QueuedMessage } from '../business/ai/domain/interfaces/RunMessageStore';
export type { InferSchema } from '../business/ai/domain/types/InferSchema';
export type { InferSimpleSchema } from '../business/ai/domain/types/InferSimpleSchema';
export type {
  JsonSchema,
  PartialOf,
  PartialValue,
  SchemaInput,
  TypedSchema,
  ValueOf,
} from '../business/ai/domain/types/Schemas';
export type { ResponseStreamEvent } from '../business/ai/domain/types/StreamEvents';
export type {
  JsonObject,
  SchemeName,
  ServedScheme,
  VendorName,
  WireName,
} from '../business/ai/domain/types/VendorTypes';
export { createAIModule } from '../business/ai/infrastructure/factories/createAIModule';
export type {
  AIModule,
  AIModulePorts,
  AIModuleSettings,
  AISettings,
} from '../business/ai/infrastructure/factories/createAIModule';
export { createProvider } from '../business/ai/infrastructure/factories/createProvider';
export type { CreateProviderOptions } from '../business/ai/infrastructure/factories/createProvider';
export { streamWithBufferedFunctions } from '../business/ai/infrastructure/streaming/streamWithBufferedFunctions';
export { mcp } from '../business/mcp/mcp';
export type { McpOptions } from '../business/mcp/mcp';
export { UnifiedStreamAdapter } from '../business/ai/infrastructure/streaming/UnifiedStreamAdapter';
export { runAsTool } from '../business/ai/infrastructure/tools/runAsTool';
export type { ChildOptions, RunToolOptions } from '../business/ai/infrastructure/tools/runAsTool';
export { applyPatchTool } from '../business/ai/infrastructure/tools/native/applyPatchTool';
export type { ApplyPatchToolOptions, PatchOperation } from '../business/ai/infrastructure/tools/native/applyPatchTool';
export { browserTool } from '../business/ai/infrastructure/tools/native/browserTool';
export type { BrowserAction, BrowserInput } from '../business/ai/infrastructure/tools/native/browserTool';
export { clientToolSearch } from '../business/ai/infrastructure/tools/native/clientToolSearch';
export type {
  ClientToolSearchOptions,
  ToolSearchInput,
} from '../business/ai/infrastructure/tools/native/clientToolSearch';
export { computerTool } from '../business/ai/infrastructure/tools/native/computerTool';
export type {
  ComputerAction,
  ComputerInput,
  ComputerToolOptions,
  Screenshot,
} from '../business/ai/infrastructure/tools/native/computerTool';
export { customTool } from '../business/ai/infrastructure/tools/native/customTool';
export type {
  CustomToolFormat,
  CustomToolInput,
  CustomToolOptions,
} from '../business/ai/infrastructure/tools/native/customTool';
export { memoryTool } from '../business/ai/infrastructure/tools/native/memoryTool';
export type { MemoryCommand } from '../business/ai/infrastructure/tools/native/memoryTool';
export type { NativeToolOptions } from '../business/ai/infrastructure/tools/native/NativeToolOptions';
export { shellTool } from '../business/ai/infrastructure/tools/native/shellTool';
export type { ShellInput, ShellResult, ShellToolOptions } from '../business/ai/infrastructure/tools/native/shellTool';
export { textEditorTool } from '../business/ai/infrastructure/tools/native/textEditorTool';
export type { TextEditorCommand } from '../business/ai/infrastructure/tools/native/textEditorTool';
export { sleepTool } from '../business/ai/infrastructure/tools/sleepTool';
export { waitForSignalTool } from '../business/ai/infrastructure/tools/waitForSignalTool';
export { ToolRegistry } from '../business/ai/infrastructure/tools/ToolRegistry';
export type { ArgumentsOf, RegisteredTool, ToolDefinition } from '../business/ai/infrastructure/tools/ToolRegistry';
export type { McpHealth } from '../business/mcp/infrastructure/McpConnection';
export type { McpServerSettings, McpToolSettings } from '../business/mcp/infrastructure/McpServerSettings';
export type { McpSource } from '../business/mcp/infrastructure/McpSource';
export { AnthropicAdapter } from '../business/ai/infrastructure/tools/adapters/AnthropicAdapter';
export { GeminiAdapter } from '../business/ai/infrastructure/tools/adapters/GeminiAdapter';
export { OpenAIChatAdapter } from '../business/ai/infrastructure/tools/adapters/OpenAIChatAdapter';
export { OpenAIResponsesAdapter } from '../business/ai/infrastructure/tools/adapters/OpenAIResponsesAdapter';
export { PartialJson } from '../business/ai/domain/util/PartialJson';
export { Agent, agent } from '../library/Agent';
export type { AgentBatchOptions, AgentOptions, HandoffAgent, ObjectOptions } from '../library/Agent';
export type { AgentHost } from '../library/AgentEngine';
export type { AgentResult } from '../library/AgentResult';
export { AgentRun } from '../library/AgentRun';
export type { RunCall } from '../library/AgentRun';
export type { AgentSettings, CallOptions } from '../library/AgentSettings';
export { Conversation } from '../library/Conversation';
export { createMemory } from '../library/createMemory';
export type { MemoryOptions } from '../library/createMemory';
export { memoryTools } from '../business/memory/infrastructure/memoryTools';
export type { MemoryToolOptions } from '../business/memory/infrastructure/memoryTools';
export { embed } from '../library/embed';
export type { EmbedSettings } from '../library/embed';
export type { BatchEntry, BatchSuccess } from '../library/batch';
export type { ObjectResult } from '../library/generateObject';
export { handoff } from '../library/handoff';
export type { HandoffOptions } from '../library/handoff';
export type { AgentHandoff, Handoff } from '../business/ai/domain/types/Handoff';
export { loadSkills } from '../library/skills/loadSkills';
export type { SkillOptions, Skills, SkillSummary } from '../library/skills/loadSkills';
export { mcpSkillFiles } from '../library/skills/mcpSkillFiles';
export type { SkillFiles } from '../library/skills/SkillFiles';
export { ObjectRun } from '../library/ObjectRun';
export type { ModelName } from '../library/modelName';
export { simpleSchema } from '../library/simpleSchema';
export { tool } from '../library/tool';
export type { ToolArguments, ToolOutput } from '../library/tool';
export { typed } from '../library/typed';

requireNode();
installTelemetry();
