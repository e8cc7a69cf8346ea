/** Encodes recorded events as one AG-UI run. */
import type { AgentEvent } from '../../../imports/business/ai/domain/types/AgentEvents';
import { AgUiEncoder } from '../../../imports/interop/agUi/AgUiEncoder';
import type { AgUiEncoderOptions } from '../../../imports/interop/agUi/AgUiEncoder';
import type { AgUiEvent } from '../../../imports/interop/agUi/AgUiEvents';
import type { AgUiMessage } from '../../../imports/interop/agUi/AgUiMessages';

export const QUESTION: AgUiMessage = { id: 'question', role: 'user', content: 'How is it in Rome?' };

/** @param events of one run; the AG-UI run starts with `QUESTION` */
export function encodeRun(
  events: readonly AgentEvent[],
  options: Partial<AgUiEncoderOptions> = {},
  past: readonly AgentEvent[] = [],
): readonly AgUiEvent[] {
  const encoder = new AgUiEncoder({
    executionId: events[0]?.executionId ?? '',
    threadId: 'thread',
    runId: 'run',
    messages: [QUESTION],
    ...options,
  });
  return [...encoder.start(past), ...events.flatMap((event) => encoder.encode(event))];
}
