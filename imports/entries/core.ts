/** `bolide/core`: for programs that compose the parts of `bolide` themselves. */
import { requireNode } from '../library/requireNode';
export type { BatchStore } from '../business/ai/domain/interfaces/BatchStore';
export type { BatchRecord } from '../business/ai/domain/entities/BatchRecord';
export type { VendorBatchStatus } from '../business/ai/application/services/batches/vendorBatch';
export { RunRecovery } from '../business/ai/application/services/RunRecovery';
export type { RunRecoveryOptions } from '../business/ai/application/services/RunRecovery';
export {
  IllegalTransitionError,
  MaxTakeoversError,
  MissingPackageError,
  StorageFullError,
  ToolLoopError,
} from '../business/ai/domain/errors/LLMErrors';
export { addUsage, outputTextOf, refusalOf, textOf, toolCalls } from '../business/ai/domain/entities/Response';
export { isFunctionTool } from '../business/ai/domain/entities/Tool';
export type { BudgetStore } from '../business/limits/domain/BudgetStore';
export type { ConversationStore, PastMessage } from '../business/ai/domain/interfaces/ConversationStore';
export type { JobQueue } from '../business/ai/domain/interfaces/JobQueue';
export type { CachedResponse, ResponseCache } from '../business/ai/domain/interfaces/ResponseCache';
export type { ResponseStore } from '../business/ai/domain/interfaces/ResponseStore';
export type { RunStore } from '../business/ai/domain/interfaces/RunStore';
export { VENDORS } from '../business/ai/domain/types/VendorTypes';
export type { Loss, TransportLimits, VendorQuirks } from '../business/ai/domain/types/VendorTypes';
export { ConversationChannels } from '../business/ai/infrastructure/events/ConversationChannels';
export { MemoryConversationStore } from '../business/ai/infrastructure/persistence/conversations/MemoryConversationStore';
export { DEFAULT_USER_ID } from '../library/AgentSettings';

requireNode();
