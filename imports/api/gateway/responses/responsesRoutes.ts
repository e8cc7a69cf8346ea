/** The Responses API over HTTP. https://www.openresponses.org; retrieve, delete and cancel follow OpenAI's API. */
import type { IncomingHttpHeaders } from 'node:http';
import type { LLMError } from '../../../business/ai/domain/errors/LLMErrors';
import { LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';
import { TooLargeToStoreError } from '../../../business/ai/domain/errors/TooLargeToStoreError';
import type { ResponseStore, StoredResponse } from '../../../business/ai/domain/interfaces/ResponseStore';
import type { AIModule } from '../../../business/ai/infrastructure/factories/createAIModule';
import { HttpError } from '../../http/HttpError';
import type { RequestContext, RouteHandler } from '../../http/RequestContext';
import { ResponseSink, SERVER_SENT_EVENTS } from '../../http/ResponseSink';
import { sendJson } from '../../http/sendJson';
import { addWarning } from '../../http/warningsHeader';
import { writeFrames } from '../../http/writeFrames';
import type { BackgroundResponses } from './BackgroundResponses';
import { gatewayOrigin, vendorCall } from '../vendorCall';
import type { VendorCallPorts } from '../vendorCall';
import { inputItemId } from './generatedIds';
import { pageOf, readPageQuery } from './itemPages';
import { prepareResponse } from './prepareResponse';
import type { PreparationPorts, PreparedResponse } from './prepareResponse';
import { reasoningEventName } from './reasoningEventName';
import type { ResponseService } from './ResponseService';

export interface ResponsesPorts extends PreparationPorts, VendorCallPorts {
  readonly module: Pick<AIModule, 'responses' | 'providers'>;
  readonly service: ResponseService;
  readonly background: BackgroundResponses;
  readonly toError: (thrown: unknown) => LLMError;
  /** Milliseconds. */
  readonly keepAliveAfter: number;
}

export function createResponse(ports: ResponsesPorts): RouteHandler {
  const { module, service, background, toError, keepAliveAfter, logger } = ports;
  const saveTurn = async (stored: StoredResponse, isStored: boolean): Promise<void> => {
    if (isStored) await module.responses.save(stored);
  };
  return async (context) => {
    const { principal, request, response, signal, hasLeft, details, requestId } = context;
    const turn = await prepareResponse(request.body, principal, module.responses, ports);
    details.provider = turn.route.providerId;
    details.isSameApi = turn.route.wire === 'responses';
    if (turn.requestedModel !== undefined) details.model = turn.requestedModel;
    const onNotStored = (error: TooLargeToStoreError): void => {
      addWarning(response, error.message);
      logger.info(error.message, { requestId, userId: principal.userId });
    };
    if (turn.isBackground) {
      const origin = gatewayOrigin('responses', principal, { model: turn.requestedModel, requestId });
      const bytes = bytesOf(request.headers);
      const rawReasoningName = reasoningEventName(request);
      const started = await background.start(turn, { body: request.body, principal, origin, bytes, rawReasoningName });
      details.continues = started.ended;
      if (turn.stream) await followResponse(context, ports, turn.generatedId, -1);
      else response.json(started.queued);
    } else if (turn.stream) {
      const sink = new ResponseSink(response, SERVER_SENT_EVENTS, signal);
      await service.stream(turn, sink, {
        // The headers are sent before the response is complete.
        call: vendorCall(
          context,
          'responses',
          ports,
          () => sink.accept(),
          inputWarnings(request, turn, module.responses),
        ),
        hasLeft,
        toError,
        keepAliveAfter,
        saveTurn,
        onNotStored,
        rawReasoningName: reasoningEventName(request),
      });
    } else {
      const call = vendorCall(context, 'responses', ports);
      sendJson(response, await service.generate(turn, { call, saveTurn, onNotStored }));
    }
  };
}

/** What is known before the call: that the input alone is too large to store. */
function inputWarnings(
  { headers }: RequestContext['request'],
  { isStored, input }: PreparedResponse,
  { maxResponseBytes = Infinity }: Pick<ResponseStore, 'maxResponseBytes'>,
): readonly string[] {
  if (!isStored || bytesOf(headers) <= maxResponseBytes) return [];
  const bytes = Buffer.byteLength(JSON.stringify(input));
  if (bytes <= maxResponseBytes) return [];
  return [new TooLargeToStoreError('The response, with its input,', bytes, maxResponseBytes).message];
}

export function readResponse(ports: ResponsesPorts): RouteHandler {
  return async (context) => {
    const { stream, starting_after: startingAfter } = context.request.query;
    const after = readSequenceNumber(startingAfter);
    const stored = await findStored(context, ports);
    if (stream !== 'true') {
      context.response.json(stored.body ?? {});
      return;
    }
    if (!(await ports.background.isStream(stored)))
      throw new LLMInvalidRequestError(
        'The response has no stored events. Only those created with background and stream have them, for 24 hours. ' +
          'Retrieve it without stream.',
        { path: 'stream' },
      );
    await followResponse(context, ports, stored.id, after);
  };
}

/** Absent: from the first event. */
function readSequenceNumber(value: unknown): number {
  if (value === undefined) return -1;
  if (typeof value === 'string' && /^\d{1,9}$/.test(value)) return Number(value);
  throw new LLMInvalidRequestError('"starting_after" must be the sequence number of an event.', {
    path: 'starting_after',
  });
}

/** Streams the events of a background response, which goes on if the client disconnects. */
async function followResponse(
  { principal, request, response, signal, hasLeft }: RequestContext,
  { background, keepAliveAfter }: ResponsesPorts,
  id: string,
  after: number,
): Promise<void> {
  const sink = new ResponseSink(response, SERVER_SENT_EVENTS, signal);
  sink.accept();
  if (request.method === 'HEAD') {
    sink.end();
    return;
  }
  await writeFrames(background.follow(principal.userId, id, after, signal), sink, { hasLeft, keepAliveAfter });
}

/** `GET /v1/responses/:id/input_items`: the items of the response's own request, not those before it. */
export function listInputItems(ports: ResponsesPorts): RouteHandler {
  return async (context) => {
    const query = readPageQuery(context.request);
    const { id, input } = await findStored(context, ports);
    const items = input.map((item, index) => ({ id: inputItemId(id, item, index), item }));
    context.response.json(pageOf(items, query));
  };
}

/** Deletes the response here, and at the provider if it stores it too. */
export function deleteResponse(ports: ResponsesPorts): RouteHandler {
  return async (context) => {
    const { principal, response } = context;
    const { id, keptByProvider, providerId } = await findStored(context, ports);
    await ports.background.cancel(principal.userId, id);
    await ports.module.responses.remove(principal.userId, id);
    await ports.background.forget(principal.userId, id);
    if (keptByProvider) await ports.module.providers.get(providerId)?.deleteResponse?.(principal.userId, id);
    response.json({ id, object: 'response', deleted: true });
  };
}

export function cancelResponse(ports: ResponsesPorts): RouteHandler {
  return async (context) => {
    const { principal, response } = context;
    const { id, body = {} } = await findStored(context, ports);
    if (body.background !== true)
      throw new LLMInvalidRequestError('Only background responses can be cancelled.', { path: 'response_id' });
    await ports.background.cancel(principal.userId, id);
    const stored = await ports.module.responses.find(principal.userId, id);
    response.json(stored?.body ?? body);
  };
}

/** @throws HttpError 404 for an unknown id; another user's id gets exactly the same response */
async function findStored(
  { principal, request }: RequestContext,
  { module, background }: ResponsesPorts,
): Promise<StoredResponse> {
  const { id } = request.params;
  const responseId = typeof id === 'string' ? id : '';
  const stored = await module.responses.find(principal.userId, responseId);
  // A response that was not created through this API has no body in its format.
  if (stored?.body === undefined)
    throw new HttpError(404, `Response with id '${responseId.slice(0, 100)}' not found.`, { path: 'response_id' });
  return background.failIfLost(stored);
}

/** The size assumed for a request without a length, or with an encoding: as much as most servers permit. */
const UNKNOWN_BYTES = 32 * 1024 * 1024;

function bytesOf({ 'content-length': length, 'content-encoding': encoding = 'identity' }: IncomingHttpHeaders): number {
  return length === undefined || encoding !== 'identity' ? UNKNOWN_BYTES : Number(length);
}
