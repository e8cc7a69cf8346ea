/**
 * Images and audio, relayed to vendors whose APIs are like OpenAI's.
 * https://platform.openai.com/docs/api-reference/images, https://platform.openai.com/docs/api-reference/audio
 */
import { invalid } from '../../../business/ai/domain/util/arguments';
import { LLMInvalidRequestError, UnsupportedFeatureError } from '../../../business/ai/domain/errors/LLMErrors';
import { isObject } from '../../../business/ai/domain/util/json';
import type { GuardrailAnnotation } from '../../../business/ai/domain/types/GuardrailAnnotation';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import type { RelayCall } from '../../../business/ai/domain/types/RelayTypes';
import type { AIModule } from '../../../business/ai/infrastructure/factories/createAIModule';
import type { RequestContext, RouteHandler } from '../../http/RequestContext';
import { addWarning } from '../../http/warningsHeader';
import { GUARDRAILS_HEADER, guardrailsHeader } from '../guardrailsHeader';
import type { ModelDirectory } from '../models/ModelDirectory';
import { gatewayOrigin } from '../vendorCall';
import { readRelayedForm } from './relayedForm';
import { sendRelayed, uploadOf } from './relayStreams';

export interface MediaPorts {
  readonly module: Pick<AIModule, 'manager'>;
  readonly models: ModelDirectory;
  readonly maxBodyBytes: number;
}

/**
 * @param path below `/v1`, such as `/images/generations`
 * @param modelOf reads the model from the body
 */
export function relayJson(
  path: string,
  ports: MediaPorts,
  modelOf: (context: RequestContext, body: JsonObject) => unknown = (_context, { model }) => model,
): RouteHandler {
  return async (context) => {
    const body: unknown = context.request.body;
    if (!isObject(body)) throw invalid('', 'must be an object');
    const model = await modelOf(context, body);
    if (model === undefined) throw new LLMInvalidRequestError('You must provide a model.', { path: 'model' });
    if (typeof model !== 'string') throw invalid('model', 'must be a string');
    const target = await resolve(context, model, ports);
    await send(context, ports, path, target, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, model: target.model }),
    });
  };
}

/** @param path below `/v1`, such as `/audio/transcriptions` */
export function relayForm(path: string, ports: MediaPorts): RouteHandler {
  return async (context) => {
    const form = await readRelayedForm(uploadOf(context.request, ports.maxBodyBytes));
    try {
      const target = await resolve(context, form.model, ports);
      await send(context, ports, path, target, form.sendAs(target.model, target.isLimited));
    } catch (error) {
      await form.discard();
      throw error;
    }
  };
}

interface MediaTarget {
  readonly address: string;
  /** The vendor's name for the model. */
  readonly model: string;
  /** The caller may use only some of the models. */
  readonly isLimited: boolean;
}

async function resolve(context: RequestContext, requested: string, { models }: MediaPorts): Promise<MediaTarget> {
  const { principal, details } = context;
  details.model = requested;
  const { providerId, model, address, wire } = await models.resolve(principal, requested, 'chat_completions');
  details.provider = providerId;
  if (wire !== 'chat_completions' && wire !== 'responses')
    throw new UnsupportedFeatureError(
      `The provider "${providerId}" has no images and audio of OpenAI's API, so the model "${requested}" cannot be used here.`,
      { path: 'model' },
    );
  if (model === undefined)
    throw new LLMInvalidRequestError(
      `The provider "${providerId}" has no default model for this. Name one, as "${providerId}/<model>".`,
      { path: 'model' },
    );
  details.isSameApi = true;
  const row = (await models.visible(principal)).find(({ id }) => id === providerId);
  const isLimited = row?.allowedModels !== undefined || principal.token?.models !== undefined;
  return { address, model, isLimited };
}

async function send(
  context: RequestContext,
  { module }: MediaPorts,
  path: string,
  { address }: MediaTarget,
  sent: Pick<RelayCall, 'headers' | 'body'>,
): Promise<void> {
  const { principal, requestId, response, signal, details } = context;
  const annotations: GuardrailAnnotation[] = [];
  const [, api = ''] = path.split('/');
  details.isCalled = true;
  const relayed = await module.manager.relay(principal.userId, {
    ...sent,
    method: 'post',
    path,
    model: address,
    signal,
    onAnnotation: (annotation) => {
      annotations.push(annotation);
      response.set(GUARDRAILS_HEADER, guardrailsHeader(annotations));
      if (annotation.action === 'change')
        addWarning(response, `The guardrail "${annotation.guardrail}" changed the request.`);
    },
    origin: gatewayOrigin(api, principal, { ...details, requestId }),
  });
  await sendRelayed(context, relayed);
}
