/** Handles a request of a stateless API with any provider, streamed or not. */
import { randomUUID } from 'node:crypto';
import { EventStream } from '../../../business/ai/domain/events/EventStream';
import { isLLMError } from '../../../business/ai/domain/errors/LLMErrors';
import type { LLMError } from '../../../business/ai/domain/errors/LLMErrors';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { GenerateOptions } from '../../../business/ai/domain/types/LLMTypes';
import { pauseFor } from '../../../business/ai/infrastructure/providers/pauseFor';
import type { LLMResponse } from '../../../business/ai/domain/types/ResponsesAPITypes';
import { SCHEME_OF_WIRE } from '../../../business/ai/domain/types/VendorTypes';
import type { AIModule } from '../../../business/ai/infrastructure/factories/createAIModule';
import { createStreamEncoder } from '../../../business/ai/infrastructure/streaming/createStreamEncoder';
import type { RouteHandler } from '../../http/RequestContext';
import { sendJson, sendJsonText } from '../../http/sendJson';
import { writeStream } from '../../http/writeStream';
import { ByteRelay } from '../../http/ByteRelay';
import { ResponseSink, SERVER_SENT_EVENTS } from '../../http/ResponseSink';
import { vendorCall } from '../vendorCall';
import type { VendorCallPorts } from '../vendorCall';
import type { ModelDirectory } from '../models/ModelDirectory';
import type { GatewayApi, StatelessWire } from './GatewayApi';
import { refuseThreads } from './refuseThreads';
import { RelayEncoder } from './RelayEncoder';

export interface GenerationPorts extends VendorCallPorts {
  readonly module: Pick<AIModule, 'manager'>;
  readonly models: ModelDirectory;
  readonly toError: (thrown: unknown) => LLMError;
  /** Milliseconds. */
  readonly keepAliveAfter: number;
}

export function handleGeneration(api: GatewayApi, ports: GenerationPorts): RouteHandler {
  return async (context) => {
    const { principal, request, response, signal, hasLeft, details } = context;
    const { options: read, stream, includeUsage = false } = api.read(request);
    if (read.model !== undefined) details.model = read.model;
    const route = await ports.models.resolve(principal, read.model, api.wire, {
      options: read,
      isStream: stream !== undefined,
    });
    const options = route.wire === 'responses' ? withoutChatOptions(read) : read;
    details.provider = route.providerId;
    details.isSameApi = route.wire === api.wire;
    refuseThreads(options, route.wire);
    if (route.wire !== api.wire) api.refuse?.(request);
    const pause = pauseFor(options);
    if (pause !== undefined) await pause;
    const sink = stream === undefined ? undefined : new ResponseSink(response, stream, signal);
    const generateOptions: GenerateOptions = {
      ...options,
      model: route.address,
      ...omitUndefined({ route: route.route }),
      wire: api.wire,
      ...vendorCall(context, api.wire, ports, () => sink?.accept()),
    };
    const isSame = route.wire === api.wire;
    if (sink === undefined) {
      let body: string | undefined;
      const relayed = { relay: true, onBody: (text: string) => (body = text) };
      const generated = await recoverSameWireFailure(
        api.wire,
        ports.module.manager.generate(principal.userId, isSame ? { ...generateOptions, ...relayed } : generateOptions),
      );
      // A fallback may have responded over another wire, which the client does not speak.
      if (body === undefined || generated.vendor.wire !== api.wire) sendJson(response, api.write(generated));
      else sendJsonText(response, body);
      return;
    }
    const plain = createStreamEncoder(SCHEME_OF_WIRE[api.wire], {
      model: options.model ?? route.providerId,
      id: randomUUID(),
      created: Math.floor(Date.now() / 1_000),
      includeUsage,
    });
    if (!isSame) {
      const events = EventStream.of(ports.module.manager.stream(principal.userId, generateOptions));
      await writeStream(events, plain, sink, { ...ports, hasLeft });
      return;
    }
    const hidesUsage = api.wire === 'chat_completions' && !includeUsage;
    const encoder = new RelayEncoder({ wire: api.wire, encoder: plain, hidesUsage });
    const relay = stream === SERVER_SENT_EVENTS ? new ByteRelay(sink, encoder) : undefined;
    const events = ports.module.manager.stream(principal.userId, {
      ...generateOptions,
      relay: true,
      ...omitUndefined({ relayTo: relay }),
    });
    await writeStream(EventStream.of(events), encoder, sink, { ...ports, hasLeft, relay });
  };
}

/** Drops fields of chat completions: they are under `openai`, and the Responses API would take them for its own. */
function withoutChatOptions(options: GenerateOptions): GenerateOptions {
  const { openai: _, ...vendor } = options.vendor ?? {};
  return { ...options, vendor };
}

/** A response in the client's own API is returned as is, even if it counts as a failure here. */
async function recoverSameWireFailure(wire: StatelessWire, response: Promise<LLMResponse>): Promise<LLMResponse> {
  try {
    return await response;
  } catch (error) {
    if (isLLMError(error) && error.response?.vendor.wire === wire) return error.response;
    throw error;
  }
}
