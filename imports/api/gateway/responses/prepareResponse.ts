/** A request of the Responses API on its way to a model: checked, its conversation found, its provider chosen. */
import { loadResponseHistory, unknownResponseError } from '../../../business/ai/domain/responseHistory';
import { wellFormedItem } from '../../../business/ai/domain/entities/wellFormedItem';
import { LLMInvalidRequestError, UnsupportedFeatureError } from '../../../business/ai/domain/errors/LLMErrors';
import type { ResponseStore } from '../../../business/ai/domain/interfaces/ResponseStore';
import type { GenerateOptions } from '../../../business/ai/domain/types/LLMTypes';
import type { InputItem } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { isObject } from '../../../business/ai/domain/json';
import { readResponsesRequest } from '../../../business/ai/infrastructure/converters/responses/gateway/ResponsesGateway';
import type { ApiPrincipal } from '../../auth/ApiPrincipal';
import type { ModelDirectory, ResolvedModel } from '../models/ModelDirectory';
import { checkResponseRequest } from './checkResponseRequest';
import { toWireOptions } from './toWireOptions';
import { generateResponseId, withoutGeneratedId } from './generatedIds';
import { readInputItems } from './readInputItems';
import { echoOf } from './responseResource';
import type { EncryptedSummaries } from './EncryptedSummaries';
import { ToolChoiceGuard } from './ToolChoiceGuard';

export interface PreparationPorts {
  readonly models: ModelDirectory;
  readonly summaries: EncryptedSummaries;
}

export interface PreparedResponse {
  readonly userId: string;
  /** What the manager is asked, without a signal. */
  readonly options: GenerateOptions;
  readonly route: ResolvedModel;
  readonly isStored: boolean;
  readonly isBackground: boolean;
  readonly stream: boolean;
  readonly previousId: string | undefined;
  /** What is new in this request. */
  readonly input: readonly InputItem[];
  /** What was said before it. */
  readonly history: readonly InputItem[];
  readonly echo: JsonObject;
  readonly guard: ToolChoiceGuard;
  /** The response's id, unless a Responses host names it. */
  readonly mintedId: string;
  /** Seconds since the epoch. */
  readonly createdAt: number;
}

/**
 * @param store where earlier responses are looked for
 * @throws LLMInvalidRequestError, LLMModelNotFoundError, UnsupportedFeatureError: nothing was asked of anybody yet
 */
export async function prepareResponse(
  body: unknown,
  actor: ApiPrincipal,
  store: ResponseStore,
  { models, summaries }: PreparationPorts,
): Promise<PreparedResponse> {
  checkResponseRequest(body);
  const {
    stream = false,
    previous_response_id: previousId,
    model,
    vendor,
    store: isStored = true,
    ...read
  } = readResponsesRequest(withPlainChoice(body));
  const route = await models.resolve(actor, model, 'responses');
  const { userId } = actor;
  const { background, ...said } = vendor?.openai_responses ?? {};
  const verbatim = withoutDefaults(said);
  const input = await readInputItems(read.input, { userId, store, summaries, providerId: route.providerId });
  const history = previousId === undefined ? NO_HISTORY : await findHistory(store, userId, previousId, route);
  checkAnswers(history.items, input);
  const isResponses = route.wire === 'responses';
  if (!isResponses) refuseHosted(verbatim);
  return {
    userId,
    route,
    isStored,
    isBackground: background === true,
    stream,
    previousId,
    input,
    history: history.items,
    echo: echoOf(body),
    guard: new ToolChoiceGuard(read.tool_choice),
    mintedId: generateResponseId(),
    createdAt: Math.floor(Date.now() / 1_000),
    options: {
      ...read,
      ...(history.isKept && previousId !== undefined
        ? { input, previous_response_id: previousId }
        : { input: [...history.items, ...input] }),
      // Other wires' hosts keep nothing for this API, whatever they call storing.
      ...(isResponses ? { store: isStored } : {}),
      vendor: { ...(isResponses ? {} : toWireOptions(verbatim)), openai_responses: verbatim },
      model: route.address,
      wire: 'responses',
    },
  };
}

interface History {
  readonly items: readonly InputItem[];
  /** The provider that is asked has it already. */
  readonly isKept: boolean;
}

const NO_HISTORY: History = { items: [], isKept: false };

async function findHistory(
  store: ResponseStore,
  userId: string,
  previousId: string,
  route: ResolvedModel,
): Promise<History> {
  const stored = await store.find(userId, previousId);
  if (stored === undefined) throw unknownResponseError(previousId);
  const { status } = stored.response;
  if (status === 'queued' || status === 'in_progress') {
    throw new LLMInvalidRequestError(`The response '${previousId}' is not finished yet.`, {
      path: 'previous_response_id',
    });
  }
  const { items } = await loadResponseHistory(store, userId, previousId);
  const isKept =
    stored.keptByProvider &&
    stored.providerId === route.providerId &&
    route.wire === 'responses' &&
    route.capabilities.keepsState;
  return { items: items.map((item) => withoutGeneratedId(wellFormedItem(item))), isKept };
}

/** https://www.openresponses.org: an output whose call is not in the context must fail. */
function checkAnswers(history: readonly InputItem[], input: readonly InputItem[]): void {
  const called = new Set<string>();
  for (const item of history) if (item.type === 'function_call') called.add(item.call_id);
  let isOpaque = false;
  for (const item of input) {
    if (item.type === 'function_call') called.add(item.call_id);
    // The call may be what the reference points at, or inside what a host has sealed.
    if (item.type === 'item_reference' || item.type === 'compaction') isOpaque = true;
    if (item.type !== 'function_call_output' || called.has(item.call_id) || isOpaque) continue;
    throw new LLMInvalidRequestError(`No tool call found for function call output with call_id ${item.call_id}.`, {
      path: 'input',
    });
  }
}

/** None of some tools is none at all, for which every host has a word. */
function withPlainChoice(body: JsonObject): JsonObject {
  const { tool_choice: choice } = body;
  return isObject(choice) && choice.type === 'allowed_tools' && choice.mode === 'none'
    ? { ...body, tool_choice: 'none' }
    : body;
}

/**
 * Null says the same as nothing, and not every host takes it everywhere. The penalties are Open Responses' own,
 * OpenAI's API does not have them: their defaults are not worth a refusal.
 */
function withoutDefaults(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([field, value]) => value !== null && !(value === 0 && /^(?:presence|frequency)_penalty$/.test(field)),
    ),
  );
}

/** What only the maker of a Responses host can look up: without it the request would mean something else. */
function refuseHosted(verbatim: JsonObject): void {
  if (verbatim.prompt !== undefined && verbatim.prompt !== null) {
    throw new UnsupportedFeatureError('Stored prompts are known to their own host only.', { path: 'prompt' });
  }
}
