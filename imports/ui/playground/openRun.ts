/** Opens a run in the playground: its settings, and its message and answer as the beginning of a conversation. */
import type { RunDetail } from '../../business/ai/domain/types/RunViews';
import { newRequestId } from '../hooks/newRequestId';
import { NO_MESSAGE } from './playgroundState';
import type { PlaygroundState } from './playgroundState';
import { toSettings } from './promptContent';

export function stateFromRun({ run, plan }: RunDetail): PlaygroundState {
  const { _id: executionId, providerId, model = '' } = run;
  return {
    settings: toSettings(plan),
    draft: NO_MESSAGE,
    lanes: [
      {
        id: newRequestId(),
        // Continuing it is a conversation of its own: the run's may go on elsewhere.
        conversationId: newRequestId(),
        providerId,
        model,
        turns: [{ messageId: newRequestId(), requestId: newRequestId(), executionId }],
      },
    ],
  };
}
