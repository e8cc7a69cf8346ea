/** Hands AG-UI events to AG-UI's own client, which checks their schemas and their order and applies them. */
import { HttpAgent } from '@ag-ui/client';
import type { BaseEvent, Message, RunAgentInput } from '@ag-ui/core';
import { EventSchemas } from '@ag-ui/core/schemas';
import type { AgUiEvent } from '../../../imports/interop/agUi/AgUiEvents';
import type { AgUiMessage } from '../../../imports/interop/agUi/AgUiMessages';

export interface AgUiReplay {
  readonly messages: readonly Message[];
  readonly state: unknown;
  readonly interrupts: HttpAgent['pendingInterrupts'];
  readonly pendingToolCallIds: readonly string[];
  readonly outcome: 'success' | 'interrupt' | 'cancelled' | undefined;
  readonly seen: readonly BaseEvent[];
  readonly error: Error | undefined;
}

/** @throws Error for an event that the client refuses, repairs or warns about */
export async function replayAgUi(
  events: readonly AgUiEvent[],
  given: { readonly messages?: readonly AgUiMessage[]; readonly state?: unknown } = {},
): Promise<AgUiReplay> {
  const frames = events.map((event) => `data: ${JSON.stringify(event)}\n\n`);
  for (const frame of frames) EventSchemas.parse(JSON.parse(frame.slice(6)));
  const agent = new HttpAgent({
    url: 'http://agent.test/',
    threadId: 'thread',
    initialMessages: (given.messages ?? []) as Message[],
    initialState: given.state ?? {},
    fetch: () => Promise.resolve(new Response(frames.join(''), { headers: { 'content-type': 'text/event-stream' } })),
  });
  return runAgent(agent);
}

/** Runs an agent, and fails if the client repairs or warns about anything. */
export async function runAgent(
  agent: HttpAgent,
  parameters: Partial<Pick<RunAgentInput, 'runId' | 'tools' | 'context' | 'forwardedProps' | 'resume'>> = {},
): Promise<AgUiReplay> {
  const warnings: string[] = [];
  const seen: BaseEvent[] = [];
  let pendingToolCallIds: readonly string[] = [];
  let outcome: AgUiReplay['outcome'];
  let error: Error | undefined;
  const [warn, report] = [console.warn, console.error];
  console.warn = (...args: unknown[]) => warnings.push(args.map(String).join(' '));
  console.error = () => undefined;
  try {
    await agent
      .runAgent(parameters, {
        onEvent: ({ event }) => void seen.push(event),
        onRunFinishedEvent: (finished) => {
          outcome = finished.outcome;
          if (finished.event.outcome?.type === 'success')
            pendingToolCallIds = finished.event.outcome.pendingToolCallIds ?? [];
        },
      })
      .catch((thrown: unknown) => void (error = thrown as Error));
  } finally {
    console.warn = warn;
    console.error = report;
  }
  if (warnings.length > 0) throw new Error(`AG-UI's client warned: ${warnings.join('\n')}`);
  return {
    messages: agent.messages,
    state: agent.state,
    interrupts: agent.pendingInterrupts,
    pendingToolCallIds,
    outcome,
    seen,
    error,
  };
}
