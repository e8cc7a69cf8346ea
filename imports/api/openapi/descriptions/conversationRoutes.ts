/** Conversations of the Responses API. */
import { COUNT, FLAG, listOf, OBJECT, objectOf, oneOf, TEXT } from '../jsonSchemas';
import type { RouteDescriptions } from '../RouteDescription';

const METADATA = { type: 'object', maxProperties: 16, additionalProperties: { type: 'string', maxLength: 512 } };
const ITEMS = { ...listOf(OBJECT), maxItems: 20 };
const CONVERSATION = objectOf({ id: TEXT, object: { const: 'conversation' }, created_at: COUNT, metadata: METADATA });
const ITEM_LIST = objectOf({ object: { const: 'list' }, data: listOf(OBJECT), has_more: FLAG });

export const CONVERSATION_ROUTES: RouteDescriptions = {
  'POST /v1/conversations': {
    summary: 'Create a conversation',
    body: objectOf({}, { metadata: METADATA, items: ITEMS }),
    example: { metadata: { topic: 'demo' }, items: [{ role: 'user', content: 'Hello!' }] },
    result: CONVERSATION,
  },
  'GET /v1/conversations/:id': { summary: 'Read a conversation', result: CONVERSATION },
  'POST /v1/conversations/:id': {
    summary: 'Replace the metadata of a conversation',
    body: objectOf({ metadata: METADATA }),
    result: CONVERSATION,
  },
  'DELETE /v1/conversations/:id': {
    summary: 'Delete a conversation with its items',
    result: objectOf({ id: TEXT, object: { const: 'conversation.deleted' }, deleted: FLAG }),
  },
  'GET /v1/conversations/:id/items': {
    summary: 'List the items of a conversation',
    query: { limit: { type: 'integer', minimum: 1, maximum: 100 }, order: oneOf('asc', 'desc'), after: TEXT },
    result: ITEM_LIST,
  },
  'POST /v1/conversations/:id/items': {
    summary: 'Add items to a conversation',
    body: objectOf({ items: ITEMS }),
    result: ITEM_LIST,
  },
  'GET /v1/conversations/:id/items/:itemId': {
    summary: 'Read an item of a conversation',
    result: objectOf({ id: TEXT, type: TEXT }),
  },
  'DELETE /v1/conversations/:id/items/:itemId': {
    summary: 'Delete an item of a conversation',
    result: CONVERSATION,
  },
};
