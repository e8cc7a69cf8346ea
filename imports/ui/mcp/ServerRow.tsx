/** One MCP server in the list: where it is, how it is, and whether its tools wait for an approval. */
import type { McpServerView } from '../../business/mcp/domain/McpViews';
import { pluralize } from '../format/format';
import { linkTo } from '../shell/route';
import { serverLabel } from './serverLabels';

export function ServerRow({ server }: { readonly server: McpServerView }) {
  const { name, url, command, source, counts } = server;
  const { text, tone } = serverLabel(server);
  const waiting = counts.new + counts.changed;
  return (
    <li className="card rule" data-mcp-server={name}>
      <div className="section-head">
        <div>
          <h2 className="rule-name">
            <a href={linkTo(['mcp-servers', name])}>
              <bdi>{name}</bdi>
            </a>
          </h2>
          <p className="muted mono rule-model">
            <bdi>{url ?? command}</bdi>
          </p>
        </div>
        <div className="buttons">
          {waiting > 0 && <span className="badge tone-amber">{waiting} to review</span>}
          <span className={`badge tone-${tone}`}>{text}</span>
        </div>
      </div>
      <p className="muted">
        {source === 'settings' ? 'Set in the server’s settings' : 'Added here'}
        {`, ${pluralize(counts.offered, 'tool')} offered`}
      </p>
      <ServerProblem server={server} />
    </li>
  );
}

export function ServerProblem({ server: { problem, health } }: { readonly server: McpServerView }) {
  if (problem === undefined && health?.needsSignIn === true)
    return <p>Its tools are listed once an administrator has signed in there.</p>;
  const text = problem ?? health?.error;
  return text === undefined ? null : (
    <p className="form-error">
      <bdi>{text}</bdi>
    </p>
  );
}
