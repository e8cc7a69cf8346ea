/** What to do about a run that was set aside. */
import type { ParkReason } from '../../business/ai/domain/types/RunViews';

export const PARK_ADVICE: Readonly<Record<ParkReason, string>> = {
  'max-takeovers':
    'See the servers’ logs for crashes at the times of its turns. Resume it once the cause is mended, run it again with changes, or cancel it.',
  'tool-changed':
    'Look at what the model has asked of the tool so far. Resume the run to go on with the new definition, run it again, or cancel it.',
  unreadable: 'Resume it once a version of the server that can read it is running, or cancel it.',
};
