/** How people sign in at an MCP server, in its form. */
import type { McpServerView } from '../../business/mcp/domain/McpViews';
import { FormField } from '../components/form/FormField';
import type { useCommand } from '../components/useCommand';
import { SecretField } from '../providers/fields';
import { Line } from './textInputs';
import type { ServerValues } from './serverValues';

export interface SignInFieldsProps {
  readonly values: ServerValues;
  readonly edited: McpServerView | undefined;
  readonly command: Pick<ReturnType<typeof useCommand>, 'error'>;
  readonly onChange: (change: Partial<ServerValues>) => void;
}

const ACCOUNTS = { none: 'Nobody', user: 'Each user', shared: 'An administrator, for all users' } as const;

export function SignInFields({ values, edited, command: { error }, onChange }: SignInFieldsProps) {
  return (
    <>
      <FormField
        label="Who signs in"
        path="oauth.accounts"
        error={error}
        hint="With OAuth. Calls are made with the account of their user, or with the one for all."
      >
        {(attributes) => (
          <select
            {...attributes}
            value={values.accounts}
            onChange={({ target }) =>
              onChange({ accounts: target.value === 'user' || target.value === 'shared' ? target.value : 'none' })
            }
          >
            {Object.entries(ACCOUNTS).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
      </FormField>
      {values.accounts !== 'none' && (
        <>
          <FormField
            label="Client ID"
            path="oauth.clientId"
            error={error}
            hint="If you have registered this app before. Empty: it registers itself."
          >
            {(attributes) => (
              <Line {...attributes} value={values.clientId} onChange={(clientId) => onChange({ clientId })} />
            )}
          </FormField>
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
              <FormField
                label="Authorization server"
                path="oauth.issuer"
                error={error}
                hint="The issuer’s URL. The client is known to no other one."
              >
                {(attributes) => (
                  <Line {...attributes} value={values.issuer} onChange={(issuer) => onChange({ issuer })} />
                )}
              </FormField>
            </>
          )}
        </>
      )}
    </>
  );
}
