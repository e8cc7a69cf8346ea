/** Everything that a host stores. */
import { API_COLLECTIONS } from '../api/collections';
import { AI_COLLECTIONS } from '../business/ai/collections';
import { AUDIT_COLLECTIONS } from '../business/audit/collections';
import { BATCH_COLLECTIONS } from '../business/batches/collections';
import { LIMIT_COLLECTIONS } from '../business/limits/collections';
import { MCP_COLLECTIONS } from '../business/mcp/collections';
import { MEMORY_COLLECTIONS } from '../business/memory/collections';
import { PRIVACY_COLLECTIONS } from '../business/privacy/collections';
import { PROMPT_COLLECTIONS } from '../business/prompts/collections';
import { PROVIDER_COLLECTIONS } from '../business/providers/collections';
import { REQUEST_COLLECTIONS } from '../business/requestLog/collections';
import type { StoredCollection } from '../database/StoredCollection';

export const COLLECTIONS: readonly StoredCollection[] = [
  ...AI_COLLECTIONS,
  ...REQUEST_COLLECTIONS,
  ...MCP_COLLECTIONS,
  ...BATCH_COLLECTIONS,
  ...MEMORY_COLLECTIONS,
  ...PROMPT_COLLECTIONS,
  ...LIMIT_COLLECTIONS,
  ...API_COLLECTIONS,
  ...PROVIDER_COLLECTIONS,
  ...AUDIT_COLLECTIONS,
  ...PRIVACY_COLLECTIONS,
];
