/**
 * Conversations of the Responses API, which are kept here for every vendor.
 * https://platform.openai.com/docs/api-reference/conversations
 */
import { randomBytes } from 'node:crypto';
import type { HttpRequest } from '../../http/HttpMessages';
import { normalizeInput } from '../../../business/ai/application/services/ContentNormalizer';
import { isLLMError, LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';
import { isObject } from '../../../business/ai/domain/util/json';
import type { ResponseConversation } from '../../../business/ai/domain/interfaces/ResponseConversationStore';
import type { InputItem } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import type { AIModule } from '../../../business/ai/infrastructure/factories/createAIModule';
import { readResponsesRequestInTurns } from '../../../business/ai/infrastructure/converters/responses/gateway/ResponsesGateway';
import type { AddEndpoint } from '../../http/Endpoint';
import { HttpError } from '../../http/HttpError';
import type { RouteHandler } from '../../http/RequestContext';
import { checkForeignRequest } from '../responses/checkForeignRequest';
import { checkMetadata, checkResponseRequest } from '../responses/checkResponseRequest';
import type { EncryptedSummaries } from '../responses/EncryptedSummaries';
import { listOf, pageOf, readInclude, readPageQuery, writeItem } from '../responses/itemPages';
import { readInputItems } from '../responses/readInputItems';
import { unknownConversation } from './Conversations';
import type { Conversations } from './Conversations';

export interface ConversationsPorts {
  readonly module: Pick<AIModule, 'responses'>;
  readonly conversations: Conversations;
  readonly summaries: EncryptedSummaries;
}

const PATH = '/v1/conversations';
const MAX_ITEMS = 20;

export function addConversationRoutes(add: AddEndpoint, ports: ConversationsPorts): void {
  const [read, generate] = [
    { method: 'get', scope: 'read' },
    { method: 'post', scope: 'generate' },
  ] as const;
  const remove = { method: 'delete', scope: 'generate' } as const;
  const [one, items, item] = [`${PATH}/:id`, `${PATH}/:id/items`, `${PATH}/:id/items/:itemId`] as const;
  add('responses', PATH, PATH, { ...generate, handler: createConversation(ports) });
  add(
    'responses',
    one,
    one,
    { ...read, handler: readConversation(ports) },
    { ...generate, handler: updateConversation(ports) },
    { ...remove, handler: deleteConversation(ports) },
  );
  add('responses', items, items, { ...read, handler: listItems(ports) }, { ...generate, handler: addItems(ports) });
  add('responses', item, item, { ...read, handler: readItem(ports) }, { ...remove, handler: deleteItem(ports) });
}

function createConversation(ports: ConversationsPorts): RouteHandler {
  const { conversations } = ports;
  return async ({ principal: { userId }, request, response }) => {
    const { metadata, items } = bodyOf(request);
    const input = items === undefined || items === null ? [] : await readItems(items, userId, ports);
    const conversation: ResponseConversation = {
      id: `conv_${randomBytes(24).toString('hex')}`,
      userId,
      createdAt: Math.floor(Date.now() / 1_000),
      metadata: readMetadata(metadata ?? {}),
    };
    await conversations.store.create(conversation);
    await conversations.append(userId, conversation.id, input);
    response.json(toResource(conversation));
  };
}

function readConversation({ conversations }: ConversationsPorts): RouteHandler {
  return async ({ principal, request, response }) => {
    response.json(toResource(await conversations.find(principal.userId, parameterOf(request, 'id'))));
  };
}

function updateConversation({ conversations }: ConversationsPorts): RouteHandler {
  return async ({ principal: { userId }, request, response }) => {
    const conversation = await conversations.find(userId, parameterOf(request, 'id'));
    const { metadata } = bodyOf(request);
    const changed = { ...conversation, metadata: metadata === null ? {} : readMetadata(metadata) };
    if (!(await conversations.store.setMetadata(userId, conversation.id, changed.metadata)))
      throw unknownConversation(conversation.id, 'conversation_id');
    response.json(toResource(changed));
  };
}

function deleteConversation({ conversations }: ConversationsPorts): RouteHandler {
  return async ({ principal: { userId }, request, response }) => {
    const { id } = await conversations.find(userId, parameterOf(request, 'id'));
    await conversations.store.remove(userId, id);
    response.json({ id, object: 'conversation.deleted', deleted: true });
  };
}

function listItems({ conversations }: ConversationsPorts): RouteHandler {
  return async ({ principal: { userId }, request, response }) => {
    const query = readPageQuery(request);
    const id = parameterOf(request, 'id');
    const history = await conversations.store.history(userId, id);
    if (history === undefined) throw unknownConversation(id, 'conversation_id');
    response.json(pageOf(history.items, query));
  };
}

function addItems(ports: ConversationsPorts): RouteHandler {
  const { conversations } = ports;
  return async ({ principal: { userId }, request, response }) => {
    const include = readInclude(request);
    const { id } = await conversations.find(userId, parameterOf(request, 'id'));
    const items = await readItems(bodyOf(request).items, userId, ports);
    const added = await conversations.append(userId, id, items);
    if (added === undefined) throw unknownConversation(id, 'conversation_id');
    response.json(listOf(added, include, false));
  };
}

function readItem({ conversations }: ConversationsPorts): RouteHandler {
  return async ({ principal: { userId }, request, response }) => {
    const include = readInclude(request);
    const { id } = await conversations.find(userId, parameterOf(request, 'id'));
    const itemId = parameterOf(request, 'itemId');
    const found = await conversations.store.findItem(userId, id, itemId);
    if (found === undefined) throw unknownItem(itemId);
    response.json(writeItem(found, include));
  };
}

function deleteItem({ conversations }: ConversationsPorts): RouteHandler {
  return async ({ principal: { userId }, request, response }) => {
    const conversation = await conversations.find(userId, parameterOf(request, 'id'));
    const itemId = parameterOf(request, 'itemId');
    if (!(await conversations.store.removeItem(userId, conversation.id, itemId))) throw unknownItem(itemId);
    response.json(toResource(conversation));
  };
}

/** @throws LLMInvalidRequestError with the path of the item */
async function readItems(
  items: unknown,
  userId: string,
  { module, summaries }: ConversationsPorts,
): Promise<readonly InputItem[]> {
  if (!Array.isArray(items) || items.length > MAX_ITEMS)
    throw new LLMInvalidRequestError(`items must be a list of at most ${MAX_ITEMS} items.`, { path: 'items' });
  const body = { input: items as readonly unknown[] };
  try {
    checkResponseRequest(body);
    checkForeignRequest(body);
    const { input } = await readResponsesRequestInTurns(body);
    // An invalid item would fail every request with the conversation.
    normalizeInput(input);
    return await readInputItems(input, { userId, store: module.responses, summaries });
  } catch (error) {
    throw underItems(error);
  }
}

/** The fields of a response's request are named after `input`. */
function underItems(error: unknown): unknown {
  if (!isLLMError(error) || error.path?.startsWith('input') !== true || error instanceof HttpError) return error;
  return new LLMInvalidRequestError(error.message.replace(/\binput\b/, 'items'), {
    path: error.path.replace('input', 'items'),
  });
}

/** @throws LLMInvalidRequestError */
function readMetadata(metadata: unknown): ResponseConversation['metadata'] {
  checkMetadata(metadata);
  return metadata;
}

/** @throws LLMInvalidRequestError */
function bodyOf(request: HttpRequest): JsonObject {
  const body: unknown = request.body;
  if (isObject(body)) return body;
  throw new LLMInvalidRequestError('The request body must be a JSON object.', { path: '' });
}

function toResource({ id, createdAt, metadata }: ResponseConversation): JsonObject {
  return { id, object: 'conversation', created_at: createdAt, metadata };
}

function unknownItem(id: string): HttpError {
  return new HttpError(404, `Item with id '${id.slice(0, 100)}' not found.`, { path: 'item_id' });
}

function parameterOf({ params }: HttpRequest, name: string): string {
  const { [name]: value } = params;
  return typeof value === 'string' ? value : '';
}
