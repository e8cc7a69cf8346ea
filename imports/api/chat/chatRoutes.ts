/** `/api/chat`: the endpoint of the AI SDK's `useChat`. https://ai-sdk.dev/docs/ai-sdk-ui/transport */
import type { FamilyEvent } from '../../business/ai/domain/types/AgentEvents';
import type { HttpRequest } from '../http/HttpMessages';
import { ContinuedUIMessage } from '../../interop/aiSdk/ContinuedUIMessage';
import { UIMessageEncoder } from '../../interop/aiSdk/UIMessageEncoder';
import type { UIMessageEncoderOptions } from '../../interop/aiSdk/UIMessageEncoder';
import { UIMessageStreamEncoder } from '../../interop/aiSdk/UIMessageStreamEncoder';
import type { ChunkEncoder } from '../../interop/aiSdk/UIMessageStreamEncoder';
import type { RequestContext, RouteHandler } from '../http/RequestContext';
import type { Chats, ChatTurn } from './Chats';
import { eventsOfTurn, isQueuedMessage } from './chatTurns';
import { followFamily } from './followFamily';
import { chatId, readChatRequest } from './readChatRequest';
import { isExternal } from './serverTools';
import { streamEvents } from './streamEvents';
import type { StreamRunPorts } from './streamEvents';

export interface ChatRoutePorts extends StreamRunPorts {
  readonly chat: Chats;
}

/** Starts or continues a run, and streams its message. */
export function submitChat({ chat, ...ports }: ChatRoutePorts): RouteHandler {
  return async (context) => {
    const request = readChatRequest(context.request.body);
    const turn = await chat.submit(context.principal, request);
    const { known } = turn;
    const options = { ...encodingOf(ports), endsBefore: isQueuedMessage };
    const encoder = known === undefined ? new UIMessageEncoder(options) : new ContinuedUIMessage(known, options);
    await send(context, request.chatId, answerOf(turn, ports, context.signal), encoder, { chat, ...ports });
  };
}

function encodingOf({ tools }: StreamRunPorts): UIMessageEncoderOptions {
  return { isExternal: (name) => isExternal(tools, name, true) };
}

async function send(
  context: RequestContext,
  id: string,
  events: AsyncIterable<FamilyEvent>,
  encoder: ChunkEncoder,
  { chat, ...ports }: ChatRoutePorts,
): Promise<void> {
  // A server that stops closes the connections itself.
  const isLeft = (): boolean => context.hasLeft() && !ports.closing.aborted;
  const stopReading = chat.reading(context.principal, id, context.signal, isLeft);
  try {
    await streamEvents(context, events, new UIMessageStreamEncoder(encoder), ports);
  } finally {
    stopReading();
  }
}

/** The events of a turn. A message that its run has ended without is answered by another run. */
async function* answerOf(
  turn: ChatTurn,
  ports: StreamRunPorts,
  signal: AbortSignal,
): AsyncGenerator<FamilyEvent, void, undefined> {
  let next: ChatTurn | undefined = turn;
  while (next !== undefined) {
    const current: ChatTurn = next;
    const events = followFamily(ports, current.executionId, { signal, decided: current.decided });
    const hasBegun: boolean | undefined = yield* eventsOfTurn(events, current.messageId);
    next = hasBegun === false ? await current.again?.() : undefined;
  }
}

/** Streams the chat's last message from its beginning, or responds with 204 if its run ended a while ago. */
export function resumeChat({ chat, ...ports }: ChatRoutePorts): RouteHandler {
  return async (context) => {
    const id = chatIn(context.request);
    const run = await chat.resumable(context.principal, id);
    if (run === undefined) context.response.status(204).end();
    else {
      const { executionId, messageId, waiting } = run;
      // The client asks once: the answers to messages that wait belong to the message, and those to later ones do not.
      const events = eventsOfTurn(followFamily(ports, executionId, context), messageId, waiting);
      const endsBefore = (next: string): boolean => isQueuedMessage(next) && !waiting.has(next);
      const encoder = new UIMessageEncoder({ ...encodingOf(ports), endsBefore });
      await send(context, id, events, encoder, { chat, ...ports });
    }
  };
}

/** Cancels the chat's run. Responds with its `{ state }`, or with 204 if no run is in progress. */
export function stopChat({ chat }: Pick<ChatRoutePorts, 'chat'>): RouteHandler {
  return async ({ principal, request, response }) => {
    const state = await chat.stop(principal, chatIn(request));
    if (state === undefined) response.status(204).end();
    else response.json({ state });
  };
}

/** Responds with the chat's `{ messages }`. */
export function readChat({ chat }: Pick<ChatRoutePorts, 'chat'>): RouteHandler {
  return async ({ principal, request, response }) => {
    response.json({ messages: await chat.messages(principal, chatIn(request)) });
  };
}

function chatIn(request: HttpRequest): string {
  return chatId(request.params['id'], 'id');
}
