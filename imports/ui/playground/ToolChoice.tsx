/** Selects the tools that the model may call, grouped by whether they block. */
import type { ToolSummary } from '../../business/ai/domain/types/ToolSummary';
import { ToolTags } from '../tools/ToolTags';

export interface ToolChoiceProps {
  readonly tools: readonly ToolSummary[];
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}

export function ToolChoice({ tools, chosen, onChange }: ToolChoiceProps) {
  const groups = [
    { legend: 'Blocking tools', list: tools.filter((tool) => tool.blocking) },
    { legend: 'Non-blocking tools', list: tools.filter((tool) => !tool.blocking) },
  ];
  const toggle = (name: string): void => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    onChange(next);
  };
  return (
    <div className="tool-choice">
      {groups.map(
        ({ legend, list }) =>
          list.length > 0 && (
            <fieldset key={legend}>
              <legend>{legend}</legend>
              {list.map((tool) => (
                <label
                  key={tool.name}
                  className={chosen.has(tool.name) ? 'tool-option is-selected' : 'tool-option'}
                  title={tool.description}
                >
                  <input
                    type="checkbox"
                    name="tool"
                    value={tool.name}
                    checked={chosen.has(tool.name)}
                    onChange={() => toggle(tool.name)}
                  />
                  <span className="mono">{tool.name}</span>
                  {(tool.needsApproval || tool.external) && <ToolTags tool={tool} />}
                </label>
              ))}
            </fieldset>
          ),
      )}
    </div>
  );
}
