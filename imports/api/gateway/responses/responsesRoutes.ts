/** The Responses API over HTTP. https://www.openresponses.org; reading, deleting and cancelling as OpenAI has it. */
import type { LLMError } from '../../../business/ai/domain/errors/LLMErrors';
import { LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';
import type { StoredResponse } from '../../../business/ai/domain/interfaces/ResponseStore';
import type { AIModule } from '../../../business/ai/infrastructure/factories/createAIModule';
import { HttpError } from '../../http/HttpError';
import type { RequestContext, ExchangeHandler } from '../../http/RequestContext';
import { ResponseSink, SERVER_SENT_EVENTS } from '../../http/ResponseSink';
import type { BackgroundResponses } from './BackgroundResponses';
import { forwardVendorHeaders } from '../../http/vendorHeaders';
import { prepareResponse } from './prepareResponse';
import type { PreparationPorts } from './prepareResponse';
import { reasoningEventName } from './reasoningEventName';
import type { ResponseService } from './ResponseService';

export interface ResponsesPorts extends PreparationPorts {
  readonly module: Pick<AIModule, 'responses' | 'providers'>;
  readonly turns: ResponseService;
  readonly background: BackgroundResponses;
  readonly toError: (thrown: unknown) => LLMError;
  /** Milliseconds. */
  readonly keepAliveAfter: number;
}

export function createResponse(ports: ResponsesPorts): ExchangeHandler {
  const { module, turns, background, toError, keepAliveAfter } = ports;
  const remember = async (stored: StoredResponse, isStored: boolean): Promise<void> => {
    if (isStored) await module.responses.save(stored);
  };
  return async (exchange) => {
    const { actor, request, response, signal, hasLeft, facts } = exchange;
    const turn = await prepareResponse(request.body, actor, module.responses, ports);
    facts.provider = turn.route.providerId;
    facts.isSameApi = turn.route.wire === 'responses';
    const onHead = forwardVendorHeaders(exchange, 'responses');
    if (turn.isBackground) {
      if (turn.stream)
        throw new LLMInvalidRequestError('A background response cannot be streamed here; fetch it by its id.', {
          path: 'stream',
        });
      response.json(await background.start(turn));
    } else if (turn.stream) {
      const sink = new ResponseSink(response, SERVER_SENT_EVENTS, signal);
      await turns.stream(turn, sink, {
        signal,
        hasLeft,
        toError,
        keepAliveAfter,
        remember,
        onHead,
        rawReasoningName: reasoningEventName(request),
      });
    } else {
      response.json(await turns.generate(turn, { signal, remember, onHead }));
    }
  };
}

export function readResponse(ports: ResponsesPorts): ExchangeHandler {
  return async (exchange) => {
    const stored = await findStored(exchange, ports);
    if (exchange.request.query.stream === 'true')
      throw new LLMInvalidRequestError('A response that is kept here comes whole; it cannot be streamed again.', {
        path: 'stream',
      });
    exchange.response.json(stored.body ?? {});
  };
}

/** Here, and at the provider that keeps it too. */
export function deleteResponse(ports: ResponsesPorts): ExchangeHandler {
  return async (exchange) => {
    const { actor, response } = exchange;
    const { id, keptByProvider, providerId } = await findStored(exchange, ports);
    await ports.background.cancel(actor.userId, id);
    await ports.module.responses.remove(actor.userId, id);
    if (keptByProvider) await ports.module.providers.get(providerId)?.deleteResponse?.(actor.userId, id);
    response.json({ id, object: 'response', deleted: true });
  };
}

export function cancelResponse(ports: ResponsesPorts): ExchangeHandler {
  return async (exchange) => {
    const { actor, response } = exchange;
    const { id, body = {} } = await findStored(exchange, ports);
    if (body.background !== true)
      throw new LLMInvalidRequestError('Only background responses can be cancelled.', { path: 'response_id' });
    await ports.background.cancel(actor.userId, id);
    const stored = await ports.module.responses.find(actor.userId, id);
    response.json(stored?.body ?? body);
  };
}

/** @throws DoorError for an id that is unknown, or another user's: nobody can tell which */
async function findStored(
  { actor, request }: RequestContext,
  { module, background }: ResponsesPorts,
): Promise<StoredResponse> {
  const { id } = request.params;
  const asked = typeof id === 'string' ? id : '';
  const stored = await module.responses.find(actor.userId, asked);
  // What was asked for elsewhere has no form in this API.
  if (stored?.body === undefined)
    throw new HttpError(404, `Response with id '${asked.slice(0, 100)}' not found.`, { path: 'response_id' });
  return background.settled(stored);
}
