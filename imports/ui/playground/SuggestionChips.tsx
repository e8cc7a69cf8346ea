/** Example prompts, as long as there is no conversation. */
import type { ToolSummary } from '../../business/ai/domain/types/ToolSummary';
import { suggestionsFor } from './suggestions';
import type { Suggestion } from './suggestions';

export interface SuggestionChipsProps {
  readonly tools: readonly ToolSummary[];
  readonly onChoose: (suggestion: Suggestion) => void;
}

export function SuggestionChips({ tools, onChoose }: SuggestionChipsProps) {
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
