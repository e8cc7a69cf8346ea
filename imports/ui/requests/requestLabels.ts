/** How the states, sources and APIs of requests are named and coloured. */
import type { RequestSource, RequestState } from '../../business/ai/domain/types/RequestRecords';
import type { StateStyle } from '../format/stateStyles';

export const REQUEST_STATE_STYLES: Readonly<Record<RequestState, StateStyle>> = {
  completed: { label: 'Completed', icon: 'check', tone: 'green', isLive: false },
  incomplete: { label: 'Incomplete', icon: 'timer', tone: 'orange', isLive: false },
  failed: { label: 'Failed', icon: 'cross', tone: 'red', isLive: false },
  cancelled: { label: 'Cancelled', icon: 'stop', tone: 'grey', isLive: false },
};

export const SOURCE_LABELS: Readonly<Record<RequestSource, string>> = {
  gateway: 'Gateway',
  run: 'Runs',
  job: 'Jobs',
  manager: 'The app’s code',
};

export const API_LABELS: Readonly<Record<string, string>> = {
  responses: 'Responses',
  chat_completions: 'Chat Completions',
  anthropic_messages: 'Messages',
  gemini: 'Gemini',
  ai_sdk: 'AI SDK',
  ag_ui: 'AG-UI',
  mcp: 'MCP',
  runs: 'Runs',
};
