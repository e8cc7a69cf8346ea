/** The playground once everything that it chooses from is loaded: settings beside the conversations. */
import { useMemo, useState } from 'react';
import type { ModelView } from '../../business/ai/domain/types/ModelViews';
import type { PublicProvider } from '../../business/providers/domain/entities/PublicProvider';
import { Icon } from '../components/Icon';
import type { ToolSummary } from '../../business/ai/domain/types/ToolSummary';
import { newRequestId } from '../conversations/newRequestId';
import { CodeDialog } from './CodeDialog';
import { Composer } from './Composer';
import { loadDraft } from './draftStorage';
import { LaneView } from './LaneView';
import { findModel } from './ModelPicker';
import { MAX_LANES, NO_MESSAGE, NO_SETTINGS } from './playgroundState';
import type { Lane, PlaygroundState } from './playgroundState';
import { toLoadActions, toPromptContent } from './promptContent';
import { PromptsDialog } from './PromptsDialog';
import { SettingsPanel } from './SettingsPanel';
import { useCodeRequest } from './useCodeRequest';
import { usePlayground } from './usePlayground';
import { suggestionsFor } from './suggestions';
import type { Suggestion } from './suggestions';

export interface PlaygroundWorkspaceProps {
  /** At least one. */
  readonly providers: readonly PublicProvider[];
  readonly tools: readonly ToolSummary[];
  readonly models: readonly ModelView[];
}

export function PlaygroundWorkspace({ providers, tools, models }: PlaygroundWorkspaceProps) {
  const playground = usePlayground(() => initialState(providers, tools));
  const { state, dispatch, problems, isBusy, send, stop } = playground;
  const { lanes, settings, draft } = state;
  // Where it is beside the conversation; elsewhere it is above.
  const [isOpen, setIsOpen] = useState(() => lanes.length === 1 && window.matchMedia('(min-width: 1001px)').matches);
  const [dialog, setDialog] = useState<'code' | 'prompts'>();
  const isInvalid = Object.keys(problems).length > 0;
  const codeRequest = useCodeRequest(state, { providers, tools, models, isInvalid });
  const hasTurns = lanes.some(({ turns }) => turns.length > 0);
  const content = useMemo(() => (isInvalid ? undefined : toPromptContent(state)), [isInvalid, state]);
  return (
    <div className={lanes.length === 1 ? 'playground' : 'playground is-comparing'}>
      <details
        className="card playground-side"
        open={isOpen}
        onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
      >
        <summary>Settings</summary>
        <SettingsPanel
          settings={settings}
          problems={problems}
          tools={tools}
          onChange={(change) => dispatch({ type: 'settings', change })}
        />
      </details>
      <div className="card playground-main">
        <div className="playground-bar">
          <button
            type="button"
            className="button button-quiet"
            disabled={lanes.length >= MAX_LANES}
            onClick={() => {
              dispatch({ type: 'add-lane', lane: nextLane(lanes, providers) });
              setIsOpen(false);
            }}
          >
            <Icon name="plus" /> Compare
          </button>
          <button type="button" className="button button-quiet" onClick={() => setDialog('prompts')}>
            <Icon name="bookmark" /> Prompts
          </button>
          <button
            type="button"
            className="button button-quiet"
            disabled={codeRequest === undefined}
            onClick={() => setDialog('code')}
          >
            <Icon name="code" /> View as code
          </button>
          <span className="spacer" />
          <button
            type="button"
            className="button button-quiet"
            disabled={isBusy || !hasTurns}
            onClick={() =>
              dispatch({ type: 'clear', conversationIds: new Map(lanes.map(({ id }) => [id, newRequestId()])) })
            }
          >
            New conversation
          </button>
        </div>
        <div className="lanes" data-count={lanes.length}>
          {lanes.map((lane, index) => (
            <LaneView
              key={lane.id}
              lane={lane}
              number={index + 1}
              isOnly={lanes.length === 1}
              playground={playground}
              providers={providers}
              models={models}
            />
          ))}
        </div>
        {!hasTurns && draft.text === '' && (
          <SuggestionChips
            tools={tools}
            onChoose={({ prompt, tools: names }) => {
              dispatch({ type: 'draft', change: { text: prompt } });
              dispatch({ type: 'settings', change: { tools: names } });
            }}
          />
        )}
        <Composer
          message={draft}
          onChange={(change) => dispatch({ type: 'draft', change })}
          onAttach={(attachments) => dispatch({ type: 'attach', attachments })}
          onSend={send}
          onStop={() => stop()}
          isBusy={isBusy}
          obstacle={isInvalid ? 'Correct the settings first.' : undefined}
          caption={lanes.length === 1 ? 'Run' : `Run on ${lanes.length} models`}
          warning={warningOf(state, models)}
        />
      </div>
      {dialog === 'code' && codeRequest !== undefined && (
        <CodeDialog request={codeRequest} onClose={() => setDialog(undefined)} />
      )}
      {dialog === 'prompts' && (
        <PromptsDialog
          content={content}
          onLoad={(prompt) => {
            const ids = providers.map(({ _id }) => _id);
            for (const action of toLoadActions(prompt.content, state, ids)) dispatch(action);
            setDialog(undefined);
          }}
          onClose={() => setDialog(undefined)}
        />
      )}
    </div>
  );
}

/** What was there before a reload, on providers and with tools that still exist; or an empty conversation. */
function initialState(providers: readonly PublicProvider[], tools: readonly ToolSummary[]): PlaygroundState {
  const stored = loadDraft();
  if (stored === undefined) return { settings: NO_SETTINGS, lanes: [newLane(providers[0])], draft: NO_MESSAGE };
  const names = new Set(tools.map(({ name }) => name));
  return {
    ...stored,
    settings: { ...stored.settings, tools: stored.settings.tools.filter((name) => names.has(name)) },
    lanes: stored.lanes.map((lane) =>
      providers.some(({ _id }) => _id === lane.providerId)
        ? lane
        : { ...lane, providerId: providers[0]?._id ?? '', model: '' },
    ),
  };
}

/** A model of a provider that is not compared yet, if there is one. */
function nextLane(lanes: readonly Lane[], providers: readonly PublicProvider[]): Lane {
  return newLane(providers.find(({ _id }) => lanes.every(({ providerId }) => providerId !== _id)) ?? providers[0]);
}

function newLane(provider: PublicProvider | undefined): Lane {
  return {
    id: newRequestId(),
    conversationId: newRequestId(),
    providerId: provider?._id ?? '',
    model: '',
    turns: [],
  };
}

/** Vendors refuse what their model does not take, so this is only a hint. */
function warningOf({ lanes, draft, settings }: PlaygroundState, models: readonly ModelView[]): string | undefined {
  const needs = [
    { isNeeded: draft.attachments.some(({ kind }) => kind === 'image'), ability: 'supportsVision', what: 'images' },
    { isNeeded: draft.attachments.some(({ kind }) => kind === 'file'), ability: 'supportsFiles', what: 'files' },
    { isNeeded: settings.tools.length > 0, ability: 'supportsTools', what: 'tools' },
  ] as const;
  for (const lane of lanes) {
    const model = findModel(models, lane);
    const lacking = needs.find(({ isNeeded, ability }) => isNeeded && model?.[ability] === false);
    if (model !== undefined && lacking !== undefined)
      return `${model.model ?? model.providerId} does not take ${lacking.what}.`;
  }
  return undefined;
}

/** Example prompts, as long as there is no conversation. */
interface SuggestionChipsProps {
  readonly tools: readonly ToolSummary[];
  readonly onChoose: (suggestion: Suggestion) => void;
}

function SuggestionChips({ tools, onChoose }: SuggestionChipsProps) {
  return (
    <div className="chips suggestions" role="group" aria-label="Examples">
      {suggestionsFor(tools).map((suggestion) => (
        <button key={suggestion.label} type="button" className="chip" onClick={() => onChoose(suggestion)}>
          {suggestion.label}
        </button>
      ))}
    </div>
  );
}
