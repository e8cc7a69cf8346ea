/**
 * Remembers the playground over a reload, in the storage of the tab: closing the tab forgets it. It contains prompts
 * and ids of runs, and no credentials.
 */
import { isList, isObject } from '../../business/ai/domain/util/json';
import { DRAFT_KEY, forgetDraft, sessionStorageOf } from './forgetDraft';
import { MAX_LANES, NO_MESSAGE, NO_SETTINGS } from './playgroundState';
import type { Lane, MessageInput, PlaygroundSettings, PlaygroundState, Turn } from './playgroundState';

/** Changes with the form of what is stored. */
const FORMAT = 1;
/** Characters of data URIs: browsers store 5 MB per origin. */
const MAX_STORED_FILES = 1_000_000;

/** Browsers may block storage, or have no room left; the playground then starts empty after a reload. */
export function storeDraft(state: PlaygroundState, storage = sessionStorageOf(window)): void {
  try {
    storage?.setItem(DRAFT_KEY, JSON.stringify({ format: FORMAT, ...withoutFiles(state) }));
  } catch {
    forgetDraft(storage);
  }
}

export function loadDraft(storage = sessionStorageOf(window)): PlaygroundState | undefined {
  try {
    const stored: unknown = JSON.parse(storage?.getItem(DRAFT_KEY) ?? 'null');
    return isObject(stored) && stored['format'] === FORMAT ? readState(stored) : undefined;
  } catch {
    return undefined;
  }
}

/** The messages of runs are in their records; only the message that is being written keeps its files. */
function withoutFiles({ settings, lanes, draft }: PlaygroundState): PlaygroundState {
  const length = draft.attachments.reduce((sum, { dataUrl = '' }) => sum + dataUrl.length, 0);
  return {
    settings,
    draft: length <= MAX_STORED_FILES ? draft : withoutData(draft),
    lanes: lanes.map((lane) => ({
      ...lane,
      turns: lane.turns.map(({ input, sentAt: _, ...turn }) =>
        turn.executionId !== undefined || input === undefined ? turn : { ...turn, input: withoutData(input) },
      ),
    })),
  };
}

function withoutData({ text, attachments }: MessageInput): MessageInput {
  return { text, attachments: attachments.map(({ dataUrl: _, ...attachment }) => attachment) };
}

function readState({ settings, lanes, draft }: Readonly<Record<string, unknown>>): PlaygroundState | undefined {
  if (!isObject(settings) || !isList(lanes) || lanes.length === 0 || !lanes.every(isLane)) return undefined;
  return {
    settings: { ...NO_SETTINGS, ...(settings as Partial<PlaygroundSettings>) },
    lanes: lanes.slice(0, MAX_LANES).map((lane) => ({ ...lane, turns: lane.turns.map(withOutcome) })),
    draft: isMessage(draft)
      ? { ...draft, attachments: draft.attachments.filter(({ dataUrl }) => dataUrl !== undefined) }
      : NO_MESSAGE,
  };
}

/** A request that was on its way during the reload has an unknown outcome. */
function withOutcome(turn: Turn): Turn {
  if (turn.executionId !== undefined || turn.error !== undefined) return turn;
  return { ...turn, error: 'The page was reloaded before the server had accepted this message. Run it again.' };
}

function isLane(value: unknown): value is Lane {
  return isObject(value) && isList(value['turns']) && typeof value['conversationId'] === 'string';
}

function isMessage(value: unknown): value is MessageInput {
  return isObject(value) && typeof value['text'] === 'string' && isList(value['attachments']);
}
