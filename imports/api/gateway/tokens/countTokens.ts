/**
 * Counts the input tokens of a request: by the vendor where it counts, or else by a tokenizer.
 * `POST /v1/messages/count_tokens`: https://platform.claude.com/docs/en/api/messages-count-tokens
 * `POST /v1/responses/input_tokens`: https://platform.openai.com/docs/api-reference/responses/input-tokens
 * `POST /v1beta/models/<model>:countTokens`: https://ai.google.dev/api/tokens
 */
import { isLLMError, LLMModelNotFoundError } from '../../../business/ai/domain/errors/LLMErrors';
import { fieldsOf } from '../../../business/ai/domain/util/json';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { GenerateOptions } from '../../../business/ai/domain/types/LLMTypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { pauseFor } from '../../../business/ai/infrastructure/providers/pauseFor';
import type { AIModule } from '../../../business/ai/infrastructure/factories/createAIModule';
import type { RequestContext, RouteHandler } from '../../http/RequestContext';
import type { GatewayApi } from '../generation/GatewayApi';
import type { ModelDirectory, ResolvedModel } from '../models/ModelDirectory';
import { countInputTokens } from './countInputTokens';
import { prepareResponse } from '../responses/prepareResponse';
import type { PreparationPorts } from '../responses/prepareResponse';
import { refuseThreads } from '../generation/refuseThreads';
import type { VendorObjectGuard } from '../VendorObjectGuard';

export interface CountingPorts {
  readonly module: Pick<AIModule, 'providers' | 'guardrails'>;
  readonly models: ModelDirectory;
  readonly vendorObjects: VendorObjectGuard;
}

/** `vendor`, `tokenizer` (OpenAI's, whoever the vendor is) or `estimate` (by the length of the text). */
export const COUNTED_BY_HEADER = 'x-bolide-counted-by';

/** For the stateless APIs. @param write the count in the API's format */
export function countTokens(
  api: GatewayApi,
  ports: CountingPorts,
  write: (tokens: number) => JsonObject,
): RouteHandler {
  return async (context) => {
    const { options } = api.read(context.request);
    const route = await ports.models.resolve(context.principal, options.model, api.wire);
    refuseThreads(options, route.wire);
    if (route.wire !== api.wire) api.refuse?.(context.request);
    await pauseFor(options);
    await respond(context, ports, { route, options: { ...options, wire: api.wire } }, write);
  };
}

export function countResponseTokens(
  ports: CountingPorts & PreparationPorts & { readonly module: Pick<AIModule, 'responses'> },
): RouteHandler {
  return async (context) => {
    const { request, principal } = context;
    // Only this endpoint accepts requests without any input.
    const body = { ...fieldsOf(request.body), input: fieldsOf(request.body)['input'] ?? [], stream: false };
    const { route, options, history, input } = await prepareResponse(body, principal, ports.module.responses, ports);
    await respond(context, ports, { route, options, conversation: [...history, ...input] }, (input_tokens) => ({
      object: 'response.input_tokens',
      input_tokens,
    }));
  };
}

/** Milliseconds for a vendor's count. */
const TIMEOUT_MS = 5_000;

interface Countable {
  readonly route: ResolvedModel;
  readonly options: GenerateOptions;
  /** The complete input, if `options` refer to a response that the provider has stored. */
  readonly conversation?: GenerateOptions['input'];
}

async function respond(
  { principal, response, signal, details }: RequestContext,
  { module, vendorObjects }: CountingPorts,
  { route, options, conversation = options.input }: Countable,
  write: (tokens: number) => JsonObject,
): Promise<void> {
  details.provider = route.providerId;
  if (options.model !== undefined) details.model = options.model;
  const provider = module.providers.get(route.providerId);
  if (provider === undefined)
    throw new LLMModelNotFoundError(`The provider "${route.providerId}" no longer exists.`, { path: 'model' });
  const { model: _, ...unnamed } = options;
  const onSend = vendorObjects.guardOf(principal);
  const own = omitUndefined({ model: route.model, onSend });
  const counted: GenerateOptions = { ...unnamed, ...own, timeout: TIMEOUT_MS, signal };
  // Nothing that a guardrail has not checked is sent to a vendor.
  const isChecked = module.guardrails.some((guardrail) => guardrail.before !== undefined);
  const byVendor = isChecked ? undefined : await orUndefined(provider.countTokens?.(principal.userId, counted), signal);
  const { tokens, countedBy } =
    byVendor === undefined
      ? await countInputTokens({ ...counted, input: conversation }, principal.userId)
      : { tokens: byVendor, countedBy: 'vendor' };
  response.set(COUNTED_BY_HEADER, countedBy).json(write(tokens));
}

/**
 * A count is only advice, so a vendor that is away does not fail the request.
 * @throws errors that are due to the request or the caller
 */
async function orUndefined(
  counting: Promise<number | undefined> | undefined,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    return await counting;
  } catch (error) {
    if (!signal.aborted && isLLMError(error) && error.retryable) return undefined;
    throw error;
  }
}
