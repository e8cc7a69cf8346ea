/** The conversation with one model, which scrolls by itself. */
import { useRef } from 'react';
import type { ModelView } from '../../business/ai/domain/types/ModelViews';
import type { PublicProvider } from '../../business/providers/domain/entities/PublicProvider';
import { EmptyState } from '../components/EmptyState';
import { Icon } from '../components/Icon';
import { ModelPicker } from './ModelPicker';
import type { Lane } from './playgroundState';
import { TurnView } from './TurnView';
import type { Playground } from './usePlayground';
import { useStickToEnd } from './useStickToEnd';

export interface LaneViewProps {
  readonly lane: Lane;
  /** From 1. */
  readonly number: number;
  /** The only lane is not numbered, and cannot be removed. */
  readonly isOnly: boolean;
  readonly playground: Playground;
  readonly providers: readonly PublicProvider[];
  readonly models: readonly ModelView[];
}

export function LaneView({ lane, number, isOnly, playground, providers, models }: LaneViewProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLOListElement>(null);
  useStickToEnd(scroller, content, lane.turns.length);
  const { dispatch, isBusy, isAnswering, resend, stop, state } = playground;
  const isJson = state.settings.schema.trim() !== '';
  const name = isOnly ? 'Model' : `Model ${number}`;
  return (
    <section className="lane" aria-label={name} data-lane={number}>
      <header className="lane-header">
        <ModelPicker
          lane={lane}
          label={name}
          providers={providers}
          models={models}
          onChange={(providerId, model) => dispatch({ type: 'target', laneId: lane.id, providerId, model })}
        />
        {!isOnly && (
          <div className="lane-buttons">
            <button
              type="button"
              className="icon-button"
              disabled={!isAnswering(lane)}
              onClick={() => stop(lane.id)}
              aria-label={`Stop model ${number}`}
              title="Stop"
            >
              <Icon name="stop" />
            </button>
            <button
              type="button"
              className="icon-button"
              disabled={isAnswering(lane)}
              onClick={() => dispatch({ type: 'remove-lane', laneId: lane.id })}
              aria-label={`Remove model ${number}`}
              title="Remove"
            >
              <Icon name="cross" />
            </button>
          </div>
        )}
      </header>
      <div
        ref={scroller}
        className="lane-scroller"
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={isOnly ? 'Conversation' : `Conversation with model ${number}`}
      >
        {lane.turns.length === 0 && (
          <EmptyState icon="spark" title="No run yet">
            {isOnly
              ? 'Write a message and run it. The answer and every tool call appear here as they happen.'
              : 'The next message goes to this model, too.'}
          </EmptyState>
        )}
        <ol ref={content} className="turns">
          {lane.turns.map((turn) => (
            <TurnView
              key={turn.requestId}
              turn={turn}
              isBusy={isBusy}
              isJson={isJson}
              dispatch={dispatch}
              resend={resend}
            />
          ))}
        </ol>
      </div>
    </section>
  );
}
