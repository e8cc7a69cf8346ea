/** One MCP server: its health, and its tools with what there is to approve. */
import { useState } from 'react';
import type { McpServerDetail } from '../../business/mcp/domain/McpViews';
import { ConfirmDialog } from '../components/ConfirmDialog';
import { EmptyState } from '../components/EmptyState';
import { FormError } from '../components/FormError';
import { PageTitle } from '../components/PageTitle';
import { useCommand } from '../components/useCommand';
import { useIsAdmin } from '../components/useIsAdmin';
import { WhenLoaded } from '../components/WhenLoaded';
import { formatDateTime } from '../format/format';
import { useUserName } from '../hooks/useUserNames';
import { useData } from '../hooks/BolideProvider';
import type { PageProps } from '../shell/PageProps';
import { McpAccounts } from './McpAccounts';
import { McpToolCard } from './McpToolCard';
import { ServerDialog } from './ServerDialog';
import { serverLabel } from './serverLabels';
import { ServerProblem } from './ServerRow';
import { goTo, linkTo } from '../shell/route';

export function McpServerPage({ route }: PageProps) {
  const [, name = ''] = route.path;
  const isAdmin = useIsAdmin();
  return (
    <>
      <p className="breadcrumbs">
        <a href={linkTo(['mcp-servers'])}>MCP servers</a>
      </p>
      {isAdmin ? (
        <LoadedServer name={name} />
      ) : (
        <>
          <PageTitle title={name} />
          <McpAccounts only={name} />
        </>
      )}
    </>
  );
}

function LoadedServer({ name }: { readonly name: string }) {
  const loaded = useData().useQuery('ai.mcpServers.get', { name });
  return (
    <WhenLoaded loaded={loaded} what="the MCP server">
      {(server) => <Server server={server} />}
    </WhenLoaded>
  );
}

function Server({ server }: { readonly server: McpServerDetail }) {
  const { text, tone } = serverLabel(server);
  return (
    <div className="stack">
      <PageTitle title={server.name}>
        <span className={`badge tone-${tone}`}>{text}</span>
      </PageTitle>
      <section className="stack">
        <Facts server={server} />
        <ServerProblem server={server} />
        {server.source === 'dashboard' && <Actions server={server} />}
      </section>
      {server.oauth !== undefined && <McpAccounts only={server.name} />}
      <Tools server={server} />
    </div>
  );
}

function Facts({ server }: { readonly server: McpServerDetail }) {
  const { url, command, args = [], source, health, headerNames, envNames, changedBy } = server;
  const changer = useUserName(changedBy ?? '');
  const { hostedObstacle, shareHeaders = false } = server;
  const secrets = [...headerNames, ...envNames];
  const shared = shareHeaders && headerNames.length > 0 ? ', which receives the headers' : '';
  return (
    <dl className="facts">
      <Fact name={url === undefined ? 'Program' : 'URL'} value={url ?? [command, ...args].join(' ')} />
      {health?.since !== undefined && health.needsSignIn !== true && (
        <Fact name={health.failures > 0 ? 'Failing since' : 'Since'} value={formatDateTime(health.since)} />
      )}
      {health?.server !== undefined && (
        <Fact name="Says it is" value={`${health.server.name} ${health.server.version}`} />
      )}
      {health?.protocolVersion !== undefined && <Fact name="Protocol" value={health.protocolVersion} />}
      {server.hosted === true && (
        <Fact
          name="Called by"
          value={hostedObstacle === undefined ? `the vendor where it can${shared}` : `Bolide alone: ${hostedObstacle}`}
        />
      )}
      {secrets.length > 0 && <Fact name="Secrets" value={secrets.join(', ')} />}
      <Fact
        name="Set"
        value={source === 'settings' ? 'in the server’s settings' : `here by ${changer ?? changedBy ?? 'somebody'}`}
      />
    </dl>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="rule-model">
        <bdi>{value}</bdi>
      </dd>
    </div>
  );
}

function Actions({ server: { tools: _, ...server } }: { readonly server: McpServerDetail }) {
  const data = useData();
  const command = useCommand();
  const [opened, setOpened] = useState<'edit' | 'remove'>();
  const { name, enabled } = server;
  const close = (): void => setOpened(undefined);
  return (
    <>
      <div className="buttons">
        <button type="button" className="button button-small" onClick={() => setOpened('edit')}>
          Edit
        </button>
        <button
          type="button"
          className="button button-small"
          disabled={command.isBusy}
          onClick={() => command.run(() => data.call('ai.mcpServers.setEnabled', { name, enabled: !enabled }))}
        >
          {enabled ? 'Switch off' : 'Switch on'}
        </button>
        {enabled && (
          <button
            type="button"
            className="button button-small"
            disabled={command.isBusy}
            onClick={() => command.run(() => data.call('ai.mcpServers.reconnect', { name }))}
          >
            Reconnect
          </button>
        )}
        <button type="button" className="button button-small button-danger" onClick={() => setOpened('remove')}>
          Remove
        </button>
      </div>
      <FormError error={command.error?.message} />
      {opened === 'edit' && <ServerDialog edited={server} onClose={close} />}
      {opened === 'remove' && (
        <ConfirmDialog
          title={`Remove ${name}?`}
          action="Remove server"
          onConfirm={async () => {
            await data.call('ai.mcpServers.remove', { name });
            goTo(linkTo(['mcp-servers']));
          }}
          onClose={close}
        >
          <p>Its secrets and what was approved of it are deleted. Calls of its tools fail from then on.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function Tools({ server }: { readonly server: McpServerDetail }) {
  const { name, source, tools, enabled, health } = server;
  if (tools.length === 0 && health?.needsSignIn === true) return null;
  if (tools.length === 0)
    return (
      <EmptyState icon="tools" title="No tools">
        {enabled ? 'The server has not listed any.' : 'Switch the server on to see its tools.'}
      </EmptyState>
    );
  return (
    <ul className="budget-list">
      {tools.map((tool) => (
        <McpToolCard key={tool.tool} server={name} tool={tool} isFixed={source === 'settings'} />
      ))}
    </ul>
  );
}
