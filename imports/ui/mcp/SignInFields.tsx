/** How people sign in at an MCP server, in its form. */
import type { McpServerView } from '../../business/mcp/domain/McpViews';
import { SecretField, SelectField, TextField } from '../components/form/fields';
import type { Option } from '../components/form/fields';
import type { useCommand } from '../components/useCommand';
import type { ServerValues } from './serverValues';

export interface SignInFieldsProps {
  readonly values: ServerValues;
  readonly edited: McpServerView | undefined;
  readonly command: Pick<ReturnType<typeof useCommand>, 'error'>;
  readonly onChange: (change: Partial<ServerValues>) => void;
}

const ACCOUNTS: readonly Option[] = [
  { value: 'none', label: 'Nobody' },
  { value: 'user', label: 'Each user' },
  { value: 'shared', label: 'An administrator, for all users' },
];

export function SignInFields({ values, edited, command: { error }, onChange }: SignInFieldsProps) {
  return (
    <>
      <SelectField
        label="Who signs in"
        path="oauth.accounts"
        error={error}
        hint="With OAuth. Calls are made with the account of their user, or with the one for all."
        value={values.accounts}
        options={ACCOUNTS}
        onChange={(value) => onChange({ accounts: value === 'user' || value === 'shared' ? value : 'none' })}
      />
      {values.accounts !== 'none' && (
        <>
          <TextField
            label="Client ID"
            path="oauth.clientId"
            error={error}
            hint="If you have registered this app before. Empty: it registers itself."
            value={values.clientId}
            onChange={(clientId) => onChange({ clientId })}
          />
          {values.clientId.trim() !== '' && (
            <>
              <SecretField
                label="Client secret"
                path="clientSecret"
                error={error}
                hint={edited?.hasClientSecret === true ? 'One is stored. Empty keeps it.' : 'Stored sealed.'}
                value={values.clientSecret}
                onChange={(clientSecret) => onChange({ clientSecret })}
              />
              <TextField
                label="Authorization server"
                path="oauth.issuer"
                error={error}
                hint="The issuer’s URL. The client is known to no other one."
                value={values.issuer}
                onChange={(issuer) => onChange({ issuer })}
              />
            </>
          )}
        </>
      )}
    </>
  );
}
