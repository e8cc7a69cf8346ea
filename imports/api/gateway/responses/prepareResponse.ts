/** Prepares a request of the Responses API: validates it, loads its conversation and chooses its provider. */
import { unknownResponseError } from '../../../business/ai/domain/entities/responseHistory';
import { wellFormedItem } from '../../../business/ai/domain/entities/Message';
import { LLMInvalidRequestError, UnsupportedFeatureError } from '../../../business/ai/domain/errors/LLMErrors';
import type { PromptReference } from '../../../business/ai/domain/types/LLMTypes';
import type { ResponseStore, StoredResponse } from '../../../business/ai/domain/interfaces/ResponseStore';
import type { GenerateOptions } from '../../../business/ai/domain/types/LLMTypes';
import type { FunctionCallItem, HostedItem, InputItem } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { isObject } from '../../../business/ai/domain/util/json';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import { pauseFor } from '../../../business/ai/infrastructure/providers/pauseFor';
import { readResponsesRequestInTurns } from '../../../business/ai/infrastructure/converters/responses/gateway/ResponsesGateway';
import type { ApiPrincipal } from '../../auth/ApiPrincipal';
import type { ModelDirectory, ResolvedModel } from '../models/ModelDirectory';
import type { Conversations } from '../conversations/Conversations';
import { checkForeignRequest } from './checkForeignRequest';
import { checkResponseRequest } from './checkResponseRequest';
import { toWireOptions } from './toWireOptions';
import { generateResponseId, withoutGeneratedId } from './generatedIds';
import { readInputItems } from './readInputItems';
import { echoRequest } from './responseResource';
import type { EncryptedSummaries } from './EncryptedSummaries';
import { ToolChoiceGuard } from './ToolChoiceGuard';

export interface PreparationPorts {
  readonly models: ModelDirectory;
  readonly summaries: EncryptedSummaries;
  readonly conversations: Conversations;
}

export interface PreparedResponse {
  readonly userId: string;
  /** The request for the manager, without a signal. */
  readonly options: GenerateOptions;
  readonly route: ResolvedModel;
  /** The model as the client named it. */
  readonly requestedModel: string | undefined;
  readonly isStored: boolean;
  readonly isBackground: boolean;
  readonly stream: boolean;
  readonly previousId: string | undefined;
  readonly conversation: StoredResponse['conversation'];
  /** The items of this request. */
  readonly input: readonly InputItem[];
  /** The items of the conversation before it. */
  readonly history: readonly InputItem[];
  /** The request's fields that its response repeats. */
  readonly echo: JsonObject;
  readonly guard: ToolChoiceGuard;
  /** The response's id, unless the provider speaks the Responses API and assigns one. */
  readonly generatedId: string;
  /** Seconds since the epoch. */
  readonly createdAt: number;
}

/**
 * Sends nothing to a vendor.
 * @param store finds earlier responses
 * @throws LLMInvalidRequestError, LLMModelNotFoundError, UnsupportedFeatureError
 */
export async function prepareResponse(
  body: unknown,
  principal: ApiPrincipal,
  store: ResponseStore,
  { models, summaries, conversations }: PreparationPorts,
): Promise<PreparedResponse> {
  checkResponseRequest(body);
  const {
    stream = false,
    previous_response_id: previousId,
    model,
    vendor,
    store: isStored = true,
    ...read
  } = await readResponsesRequestInTurns(normalizeToolChoice(body));
  await pauseFor(read);
  const { userId } = principal;
  const route = await models.resolve(principal, model, 'responses', {
    options: omitUndefined({ ...read, vendor }),
    isStream: stream,
    findKeeper: async () => (previousId === undefined ? undefined : (await store.find(userId, previousId))?.providerId),
  });
  if (route.wire !== 'responses') checkForeignRequest(body);
  const {
    background,
    conversation: _,
    presence_penalty,
    frequency_penalty,
    ...fields
  } = vendor?.openai_responses ?? {};
  const { prompt, ...others } = withoutNulls(fields);
  const named = isNamed(prompt) ? { prompt: prompt as PromptReference } : {};
  const verbatim = prompt === undefined || isNamed(prompt) ? others : { ...others, prompt };
  const conversation = await conversations.requestedBy(userId, body);
  // Items of a conversation must be complete for every vendor.
  const referencedProvider = conversation === undefined ? { providerId: route.providerId } : {};
  const input = await readInputItems(read.input, { userId, store, summaries, ...referencedProvider });
  const history =
    previousId === undefined
      ? { items: conversation?.items ?? [], isStoredByProvider: false }
      : await findHistory({ store, conversations }, userId, previousId, route);
  checkCallOutputs(history.items, input);
  await pauseFor(read);
  const isResponses = route.wire === 'responses';
  if (!isResponses) rejectHostedFeatures(verbatim);
  return {
    userId,
    route,
    requestedModel: model,
    isStored,
    isBackground: background === true,
    stream,
    previousId,
    conversation: conversation === undefined ? undefined : { id: conversation.id, end: conversation.end },
    input,
    history: history.items,
    echo: echoRequest(body),
    guard: new ToolChoiceGuard(read.tool_choice),
    generatedId: generateResponseId(),
    createdAt: Math.floor(Date.now() / 1_000),
    options: {
      ...read,
      ...named,
      // OpenAI's API lacks the penalties of Open Responses: what sends them to the vendor may have to leave them out.
      ...omitUndefined({
        presence_penalty: nonZero(presence_penalty),
        frequency_penalty: nonZero(frequency_penalty),
      }),
      ...(history.isStoredByProvider && previousId !== undefined
        ? { input, previous_response_id: previousId }
        : { input: [...history.items, ...input] }),
      // Over other wires, `store` means something else than a response that can be continued.
      ...(isResponses ? { store: isStored } : {}),
      vendor: { ...(isResponses ? {} : toWireOptions(verbatim)), openai_responses: verbatim },
      model: route.address,
      ...omitUndefined({ route: route.route }),
      wire: 'responses',
      unsupportedTools: 'drop',
    },
  };
}

interface History {
  readonly items: readonly InputItem[];
  /** The requested provider has stored it, so the items need not be sent again. */
  readonly isStoredByProvider: boolean;
}

async function findHistory(
  { store, conversations }: { readonly store: ResponseStore; readonly conversations: Conversations },
  userId: string,
  previousId: string,
  route: ResolvedModel,
): Promise<History> {
  const stored = await store.find(userId, previousId);
  if (stored === undefined) throw unknownResponseError(previousId);
  const { status } = stored.response;
  if (status === 'queued' || status === 'in_progress') {
    throw new LLMInvalidRequestError(`Response "${previousId}" has not finished yet. Wait for it to complete.`, {
      path: 'previous_response_id',
    });
  }
  const items = await conversations.historyOf(store, userId, previousId);
  const isStoredByProvider =
    stored.keptByProvider &&
    stored.providerId === route.providerId &&
    route.wire === 'responses' &&
    route.capabilities.keepsState;
  return { items: items.map((item) => withoutGeneratedId(wellFormedItem(item))), isStoredByProvider };
}

/** https://www.openresponses.org: an output whose call is not in the context must be rejected. */
function checkCallOutputs(history: readonly InputItem[], input: readonly InputItem[]): void {
  const called = new Set<unknown>();
  for (const item of history) if (isAnsweredByOutput(item)) called.add(item.call_id);
  let isOpaque = false;
  for (const item of input) {
    if (isAnsweredByOutput(item)) called.add(item.call_id);
    // The call may be the referenced item, or be inside a summary that another provider encrypted.
    if (item.type === 'item_reference' || item.type === 'compaction') isOpaque = true;
    if (item.type !== 'function_call_output' || called.has(item.call_id) || isOpaque) continue;
    throw new LLMInvalidRequestError(`No tool call found for function call output with call_id ${item.call_id}.`, {
      path: 'input',
    });
  }
}

function isAnsweredByOutput(item: InputItem): item is FunctionCallItem | HostedItem {
  return item.type === 'function_call' || item.type === 'tool_search_call';
}

/** "None of these tools" is the same as "no tools", which every provider understands. */
function normalizeToolChoice(body: JsonObject): JsonObject {
  const { tool_choice: choice } = body;
  return isObject(choice) && choice.type === 'allowed_tools' && choice.mode === 'none'
    ? { ...body, tool_choice: 'none' }
    : body;
}

/** Null is the same as absent, but not every provider accepts it. */
function withoutNulls(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** Zero is the default. */
function nonZero(value: unknown): number | undefined {
  return typeof value === 'number' && value !== 0 ? value : undefined;
}

/** A prompt with a name is saved here; one with an id is the vendor's. The normalizer checks its fields. */
function isNamed(prompt: unknown): boolean {
  return isObject(prompt) && 'name' in prompt;
}

/** Rejects what only the provider that stores it could resolve; dropping it would change the request's meaning. */
function rejectHostedFeatures(verbatim: JsonObject): void {
  if (verbatim.prompt !== undefined && verbatim.prompt !== null) {
    throw new UnsupportedFeatureError('Stored prompts work only with the provider that stores them.', {
      path: 'prompt',
    });
  }
}
