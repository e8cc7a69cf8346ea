/** One tool of an MCP server: what it is or has become, its approval, and its switches. */
import type { McpToolView } from '../../business/mcp/domain/McpViews';
import { FormError } from '../components/FormError';
import { useCommand } from '../components/useCommand';
import { useData } from '../hooks/BolideProvider';
import { DefinitionView } from './DefinitionView';
import { TOOL_LABELS } from './serverLabels';

export function McpToolCard({
  server,
  tool: view,
  isFixed,
}: {
  readonly server: string;
  readonly tool: McpToolView;
  /** It is of the settings. */
  readonly isFixed: boolean;
}) {
  const data = useData();
  const command = useCommand();
  const { tool, state, hash, approved, current, approvedAt, clash } = view;
  const { text, tone } = TOOL_LABELS[state];
  const needsReview = !isFixed && hash !== undefined && (state === 'new' || state === 'changed');
  return (
    <li className="card rule" data-mcp-tool={tool}>
      <div className="section-head">
        <h2 className="rule-name mono">
          <bdi>{tool}</bdi>
        </h2>
        <div className="buttons">
          {!isFixed && <span className={`badge tone-${tone}`}>{text}</span>}
          {needsReview && (
            <button
              type="button"
              className="button button-small button-primary"
              disabled={command.isBusy}
              aria-label={`Approve: ${tool}`}
              onClick={() =>
                command.run(() => data.call('ai.mcpServers.approve', { name: server, tools: [{ tool, hash }] }))
              }
            >
              Approve
            </button>
          )}
        </div>
      </div>
      {state === 'changed' && <p>It is not offered any more, because it is not what was approved.</p>}
      {clash !== undefined && (
        <p className="form-error">
          It is not offered: a tool <bdi>{clash.name}</bdi>{' '}
          {clash.source === undefined ? (
            'of the app'
          ) : (
            <>
              of the MCP server or source <bdi>{clash.source}</bdi>
            </>
          )}{' '}
          is already there. Give this server another prefix.
        </p>
      )}
      <DefinitionView approved={approved} current={current} />
      {!isFixed && approvedAt !== undefined && <Switches server={server} view={view} command={command} />}
      <FormError error={command.error?.message} />
    </li>
  );
}

const SWITCHES = [
  { name: 'enabled', label: 'Offer it' },
  { name: 'needsApproval', label: 'Each call needs an approval' },
  { name: 'blocking', label: 'The model waits for tasks' },
] as const;

function Switches({
  server,
  view,
  command,
}: {
  readonly server: string;
  readonly view: McpToolView;
  readonly command: ReturnType<typeof useCommand>;
}) {
  const data = useData();
  return (
    <div className="buttons">
      {SWITCHES.map(({ name, label }) => (
        <label key={name} className="check-field">
          <input
            type="checkbox"
            checked={view[name] ?? false}
            disabled={command.isBusy}
            onChange={(event) => {
              // What is not set is as the server and the defaults have it.
              const value = event.target.checked || (name === 'enabled' ? false : null);
              command.run(() => data.call('ai.mcpServers.setTool', { name: server, tool: view.tool, [name]: value }));
            }}
          />
          {label}
        </label>
      ))}
    </div>
  );
}
