/** The playground's state, stored over a reload, and its commands: send, send again, stop. */
import { useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef } from 'react';
import type { Item } from '../../business/ai/domain/types/ResponsesAPITypes';
import { useData } from '../hooks/BolideProvider';
import { newRequestId } from '../conversations/newRequestId';
import { useRun } from '../hooks/useRun';
import type { LiveRun } from '../conversations/observeRun';
import { storeDraft } from './draftStorage';
import { reducePlayground } from './playgroundState';
import type { Lane, MessageInput, PlaygroundAction, PlaygroundState, Turn } from './playgroundState';
import { checkSettings, toRunSettings, toStartRequest } from './toRequest';
import type { SettingProblems } from './toRequest';

export interface Playground {
  readonly state: PlaygroundState;
  readonly dispatch: (action: PlaygroundAction) => void;
  readonly problems: SettingProblems;
  /** Some model is still answering. */
  readonly isBusy: boolean;
  /** Whether the lane's model is still answering. */
  readonly isAnswering: (lane: Lane) => boolean;
  /** Sends the draft to every model. */
  readonly send: () => void;
  /**
   * Sends a message again, changed or not, to the models that have it, and drops what came after it.
   * @param before what was said before the message, in a run that was opened
   */
  readonly resend: (messageId: string, input: MessageInput, before: readonly Item[]) => void;
  /** Stops one model, or all. */
  readonly stop: (laneId?: string) => void;
}

export function usePlayground(initial: () => PlaygroundState): Playground {
  const { call } = useData();
  const [state, dispatch] = useReducer(reducePlayground, undefined, initial);
  const runs = useLastRuns(state.lanes);
  const problems = useMemo(() => checkSettings(state.settings), [state.settings]);
  const latest = useRef({ state, runs });
  // Before the page is painted, and before anybody can send.
  useLayoutEffect(() => {
    latest.current = { state, runs };
  });
  useEffect(() => storeDraft(state));
  /** Requests to be cancelled as soon as their runs are known. */
  const stopped = useRef(new Set<string>());

  const start = useCallback(
    async (lane: Lane, turn: Turn, position: number, before: readonly Item[]): Promise<void> => {
      const { requestId, input } = turn;
      if (input === undefined) return;
      try {
        const settings = toRunSettings(latest.current.state.settings);
        const request = toStartRequest(lane, settings, { requestId, input, position }, before);
        const { executionId } = await call('ai.runs.start', request);
        dispatch({ type: 'started', requestId, executionId });
        if (stopped.current.delete(requestId)) await call('ai.runs.cancel', { executionId });
      } catch (thrown) {
        dispatch({ type: 'refused', requestId, error: thrown instanceof Error ? thrown.message : String(thrown) });
      }
    },
    [call],
  );

  const send = useCallback((): void => {
    const { lanes, draft } = latest.current.state;
    const turns = new Map(newTurns(lanes, draft));
    dispatch({ type: 'send', turns });
    for (const lane of lanes) {
      const turn = turns.get(lane.id);
      if (turn !== undefined) void start(lane, turn, lane.turns.length, []);
    }
  }, [start]);

  const resend = useCallback(
    (messageId: string, input: MessageInput, before: readonly Item[]): void => {
      const positionIn = (lane: Lane): number => lane.turns.findIndex((turn) => turn.messageId === messageId);
      const lanes = latest.current.state.lanes.filter((lane) => positionIn(lane) !== -1);
      const turns = new Map(newTurns(lanes, input));
      dispatch({ type: 'resend', messageId, turns });
      for (const lane of lanes) {
        const turn = turns.get(lane.id);
        if (turn !== undefined) void start(lane, turn, positionIn(lane), before);
      }
    },
    [start],
  );

  const stop = useCallback((laneId?: string): void => {
    const { state: current, runs: last } = latest.current;
    current.lanes.forEach((lane, index) => {
      const turn = lane.turns.at(-1);
      if (turn === undefined || (laneId !== undefined && lane.id !== laneId)) return;
      if (turn.executionId === undefined) stopped.current.add(turn.requestId);
      // A run that has just ended refuses; its end is shown.
      else if (last[index]?.isActive === true) last[index].cancel().catch(() => undefined);
    });
  }, []);

  const isAnswering = (lane: Lane): boolean => {
    const turn = lane.turns.at(-1);
    if (turn === undefined) return false;
    if (turn.executionId === undefined) return turn.error === undefined;
    const run = runs[state.lanes.indexOf(lane)];
    return run === undefined || run.isActive || run.status === 'loading';
  };
  const isBusy = state.lanes.some(isAnswering);
  return { state, dispatch, problems, isBusy, isAnswering, send, resend, stop };
}

function newTurns(lanes: readonly Lane[], input: MessageInput): readonly (readonly [string, Turn])[] {
  const messageId = newRequestId();
  const sentAt = Date.now();
  return lanes.map(({ id }) => [id, { messageId, requestId: newRequestId(), input, sentAt }]);
}

/** Returns the last run of each lane. Hooks are called for the largest number of lanes. */
function useLastRuns(lanes: readonly Lane[]): readonly LiveRun[] {
  const idOf = (index: number): string | undefined => lanes[index]?.turns.at(-1)?.executionId;
  const first = useRun(idOf(0));
  const second = useRun(idOf(1));
  const third = useRun(idOf(2));
  const fourth = useRun(idOf(3));
  return useMemo(() => [first, second, third, fourth], [first, second, third, fourth]);
}
