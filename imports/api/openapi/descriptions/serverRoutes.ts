/** The state of the server, conversations, chats and accounts. */
import { ANYTHING, COUNT, described, either, listOf, OBJECT, objectOf, oneOf, TEXT, TIME } from '../jsonSchemas';
import { AUDIT_CHANNELS, AUDIT_SUBJECTS } from '../../../business/ai/domain/types/AuditEntries';
import type { RouteDescriptions } from '../RouteDescription';

const MESSAGES = { messages: listOf(OBJECT) };

const AUDIT_FILTER = {
  ...{ userId: TEXT, tokenId: TEXT, subjectId: TEXT, search: TEXT, from: TIME, to: TIME },
  action: described(TEXT, 'One or several, separated by commas.'),
  outcome: described(TEXT, 'One or several, separated by commas.'),
  kind: oneOf(...AUDIT_SUBJECTS),
  via: oneOf(...AUDIT_CHANNELS),
};

export const SERVER_ROUTES: RouteDescriptions = {
  'GET /health': { summary: 'Whether the server runs', result: objectOf({ status: { const: 'ok' } }) },
  'GET /ready': {
    summary: 'Whether the server takes requests: 503 while it shuts down, or cannot reach its database or write to it',
    result: objectOf({ status: { const: 'ready' } }),
  },
  'GET /metrics': { summary: 'Metrics for Prometheus', content: ['text/plain'] },
  'GET /openapi.json': { summary: 'This document', result: OBJECT },

  'POST /mcp': {
    summary: 'A message of the Model Context Protocol',
    body: objectOf({ jsonrpc: { const: '2.0' }, method: TEXT }, { id: either(TEXT, COUNT), params: OBJECT }),
    result: ANYTHING,
    streams: 'on-request',
  },
  'GET /mcp': { summary: 'The changes of a session of the Model Context Protocol', streams: 'always' },
  'DELETE /mcp': { summary: 'End a session of the Model Context Protocol', result: ANYTHING },
  'GET /.well-known/oauth-protected-resource': { summary: 'How to get access to /mcp (RFC 9728)', result: OBJECT },
  'GET /.well-known/oauth-protected-resource/mcp': { summary: 'How to get access to /mcp (RFC 9728)', result: OBJECT },

  'POST /api/input': {
    summary: 'Send a message to a conversation',
    body: objectOf(
      { message: TEXT },
      { conversation: TEXT, model: TEXT, conversation_history: listOf(objectOf({ role: TEXT, content: TEXT })) },
    ),
    status: 202,
    result: OBJECT,
  },
  'GET /api/output/stream': {
    summary: 'The answers of a conversation',
    query: { conversation: TEXT, lastEventId: TEXT },
    streams: 'always',
  },

  'POST /api/chat': {
    summary: 'Answer a message of the AI SDK’s useChat',
    body: objectOf(
      { id: TEXT, ...MESSAGES },
      { trigger: TEXT, messageId: TEXT, model: TEXT, instructions: TEXT, tools: listOf(TEXT), compaction: ANYTHING },
    ),
    streams: 'always',
  },
  'GET /api/chat/:id': { summary: 'Read a chat', result: objectOf(MESSAGES) },
  'GET /api/chat/:id/stream': {
    summary: 'The answer in progress, or 204',
    streams: 'always',
  },
  'POST /api/chat/:id/stop': { summary: 'Cancel the answer in progress', result: objectOf({ state: TEXT }) },
  'POST /api/ag-ui': {
    summary: 'Start or continue a run for an AG-UI client',
    body: objectOf({ threadId: TEXT, runId: TEXT, ...MESSAGES }, { tools: listOf(OBJECT), context: listOf(OBJECT) }),
    streams: 'always',
  },

  'GET /api/audit/export': {
    summary: 'The audit trail as a file, oldest first',
    query: { ...AUDIT_FILTER, format: oneOf('ndjson', 'csv') },
    content: ['application/x-ndjson', 'text/csv'],
  },
};
