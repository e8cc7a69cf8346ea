/** Streams events of a run to one client in the protocol of an encoder. A client that leaves does not end the run. */
import type { RunEventEncoder } from '../../interop/RunEventEncoder';
import { SingleEvents } from '../../business/ai/domain/events/SingleEvents';
import type { FamilyEvent } from '../../business/ai/domain/types/AgentEvents';
import type { LLMError } from '../../business/ai/domain/errors/LLMErrors';
import type { RequestContext } from '../http/RequestContext';
import { ResponseSink, SERVER_SENT_EVENTS } from '../http/ResponseSink';
import { writeStream } from '../http/writeStream';
import type { FollowRunPorts } from './followRun';

export interface StreamRunPorts extends FollowRunPorts {
  /** Milliseconds without an event after which a comment is sent. */
  readonly keepAliveAfter: number;
  /** Milliseconds after which the connection is cut, so that the client must resume and authenticate again. */
  readonly maxConnectionTime: number;
  /** Fires when the server stops. */
  readonly closing: AbortSignal;
  readonly toError: (thrown: unknown) => LLMError;
}

export interface StreamedRun {
  readonly executionId: string;
  /** What was decided just now of the calls of the run and those below it: see `answeredIdOf` and `callOfRunId`. */
  readonly decided?: ReadonlySet<string>;
}

export async function streamEvents(
  { response, signal, hasLeft }: Pick<RequestContext, 'response' | 'signal' | 'hasLeft'>,
  events: AsyncIterable<FamilyEvent>,
  encoder: RunEventEncoder,
  ports: Omit<StreamRunPorts, keyof FollowRunPorts>,
): Promise<void> {
  response.set(encoder.headers);
  const sink = new ResponseSink(response, SERVER_SENT_EVENTS, signal);
  if (response.req.method === 'HEAD') {
    sink.end();
    return;
  }
  // Cut rather than ended, since the end of a stream means that the message is complete.
  const ended = AbortSignal.any([ports.closing, AbortSignal.timeout(ports.maxConnectionTime)]);
  const cut = (): void => void response.destroy();
  if (ended.aborted) cut();
  ended.addEventListener('abort', cut, { once: true });
  await writeStream(new SingleEvents(events), encoder, sink, { ...ports, hasLeft });
  ended.removeEventListener('abort', cut);
}
