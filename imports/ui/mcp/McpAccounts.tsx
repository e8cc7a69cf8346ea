/** The MCP servers that the user can sign in at, and those of all users for administrators. */
import type { McpAccountView } from '../../business/mcp/domain/McpViews';
import { FormError } from '../components/FormError';
import { useCommand } from '../components/useCommand';
import { WhenLoaded } from '../components/WhenLoaded';
import { formatDateTime } from '../format/format';
import { useData } from '../hooks/BolideProvider';

/** @param only the name of one server; default: all */
export function McpAccounts({ only }: { readonly only?: string }) {
  const loaded = useData().useQuery('ai.mcpAccounts.list', {});
  return (
    <WhenLoaded loaded={loaded} what="accounts at MCP servers">
      {({ accounts }) => <AccountList accounts={accounts.filter(({ name }) => only === undefined || name === only)} />}
    </WhenLoaded>
  );
}

function AccountList({ accounts }: { readonly accounts: readonly McpAccountView[] }) {
  if (accounts.length === 0) return null;
  return (
    <ul className="budget-list" aria-label="Accounts">
      {accounts.map((account) => (
        <AccountRow key={account.name} account={account} />
      ))}
    </ul>
  );
}

function AccountRow({ account }: { readonly account: McpAccountView }) {
  const { name, origin, accounts, signedInAt, missingScope } = account;
  const data = useData();
  const command = useCommand();
  const signIn = async (): Promise<void> => {
    const { url } = await data.call('ai.mcpAccounts.signIn', { server: name });
    window.location.assign(url);
  };
  return (
    <li className="card rule" data-mcp-account={name}>
      <div className="section-head">
        <div>
          <h2 className="rule-name">
            {accounts === 'shared' ? 'Account of all users at ' : 'Your account at '}
            <bdi>{name}</bdi>
          </h2>
          <p className="muted mono rule-model">
            <bdi>{origin}</bdi>
          </p>
        </div>
        <div className="buttons">
          <button
            type="button"
            className={`button button-small ${signedInAt === undefined || missingScope !== undefined ? 'button-primary' : ''}`}
            disabled={command.isBusy}
            onClick={() => command.run(signIn)}
          >
            {signedInAt === undefined ? 'Sign in' : 'Sign in again'}
          </button>
          {signedInAt !== undefined && (
            <button
              type="button"
              className="button button-small"
              disabled={command.isBusy}
              onClick={() => command.run(() => data.call('ai.mcpAccounts.signOut', { server: name }))}
            >
              Sign out
            </button>
          )}
        </div>
      </div>
      <p className="muted">{signedInAt === undefined ? 'Not signed in' : `Signed in ${formatDateTime(signedInAt)}`}</p>
      {missingScope !== undefined && (
        <p className="form-error">
          It lacks rights that a call needs. Sign in again to be asked for them.{' '}
          <bdi className="mono">{missingScope}</bdi>
        </p>
      )}
      <FormError error={command.error?.message} />
    </li>
  );
}
