/** Which tools the model is offered; those that it waits for and those that it does not, apart. */
import type { ToolOffer } from '../data/DashboardData';
import { ToolMarks } from '../tools/ToolMarks';

export interface ToolChoiceProps {
  readonly tools: readonly ToolOffer[];
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
                  className={chosen.has(tool.name) ? 'tool-option is-on' : 'tool-option'}
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
                  {(tool.needsApproval || tool.external) && <ToolMarks tool={tool} />}
                </label>
              ))}
            </fieldset>
          ),
      )}
    </div>
  );
}
