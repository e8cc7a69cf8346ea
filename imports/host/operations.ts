/** Every operation of a host. */
import { TOKEN_OPERATIONS } from '../api/tokens/tokenOperations';
import { AUDIT_OPERATIONS } from '../business/audit/application/auditOperations';
import { BATCH_OPERATIONS } from '../business/batches/application/batchOperations';
import { BUDGET_OPERATIONS } from '../business/limits/application/budgetOperations';
import { MCP_ACCOUNT_OPERATIONS } from '../business/mcp/application/mcpAccountOperations';
import { MCP_SERVER_OPERATIONS } from '../business/mcp/application/mcpServerOperations';
import { MEMORY_OPERATIONS } from '../business/memory/application/memoryOperations';
import { MODEL_OPERATIONS } from '../business/ai/application/operations/modelOperations';
import { PROMPT_OPERATIONS } from '../business/prompts/application/promptOperations';
import { QUEUE_OPERATIONS } from '../business/ai/application/operations/queueOperations';
import { ROUTING_OPERATIONS } from '../business/ai/application/operations/routingOperations';
import { INBOX_OPERATIONS } from '../business/ai/application/operations/inboxOperations';
import { REQUEST_OPERATIONS } from '../business/requestLog/application/requestOperations';
import { RUN_OPERATIONS } from '../business/ai/application/operations/runCommandOperations';
import { RUN_EXPORT_OPERATIONS } from '../business/ai/application/operations/runExportOperations';
import { RUN_LIST_OPERATIONS } from '../business/ai/application/operations/runListOperations';
import { TOOL_OPERATIONS } from '../business/ai/application/operations/toolOperations';
import { USAGE_OPERATIONS } from '../business/usage/application/usageOperations';
import { USER_OPERATIONS } from '../business/privacy/application/userOperations';
import { PROVIDER_OPERATIONS } from '../business/providers/application/operations/providerOperations';
import type { OperationsOf, ServicesOf } from './bindOperations';

export const OPERATIONS = [
  ...BUDGET_OPERATIONS,
  ...MEMORY_OPERATIONS,
  ...QUEUE_OPERATIONS,
  ...ROUTING_OPERATIONS,
  ...MCP_SERVER_OPERATIONS,
  ...MCP_ACCOUNT_OPERATIONS,
  ...MODEL_OPERATIONS,
  ...PROMPT_OPERATIONS,
  ...BATCH_OPERATIONS,
  ...INBOX_OPERATIONS,
  ...REQUEST_OPERATIONS,
  ...RUN_OPERATIONS,
  ...RUN_LIST_OPERATIONS,
  ...RUN_EXPORT_OPERATIONS,
  ...TOKEN_OPERATIONS,
  ...TOOL_OPERATIONS,
  ...USAGE_OPERATIONS,
  ...AUDIT_OPERATIONS,
  ...USER_OPERATIONS,
  ...PROVIDER_OPERATIONS,
] as const;

/** What carries the operations out. */
export type OperationServices = ServicesOf<typeof OPERATIONS>;

/** The operations of a host by name, the same for every transport. */
export type DefinedOperations = OperationsOf<typeof OPERATIONS>;
