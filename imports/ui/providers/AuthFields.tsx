/** How a provider authenticates: whose credential it uses, and the credential itself, which is never shown again. */
import type { VendorInfo } from '../../business/ai/domain/types/ProviderViews';
import { AUTH_KINDS } from '../../business/providers/domain/entities/Provider';
import type { ProviderDetails } from '../../business/providers/domain/entities/ProviderDetails';
import type { KNOWN_SERVERS } from '../../business/providers/domain/knownServers';
import { SecretField, SelectField, TextField } from '../components/form/fields';
import type { CommandError } from '../components/useCommand';
import { isOAuth } from './providerFields';
import type { ProviderForm } from './providerFields';

export const AUTH_LABELS = {
  api_key: 'One API key for everyone',
  user_api_key: 'Each user’s own API key',
  oauth_app: 'OAuth: the app’s account',
  oauth_user: 'OAuth: each user’s account',
} as const;

const SERVER_LABELS = {
  generic: 'Other server',
  google: 'Google',
  azure: 'Microsoft Entra ID',
  openrouter: 'OpenRouter',
} as const satisfies Record<keyof typeof KNOWN_SERVERS, string>;

export function AuthFields({
  form,
  vendor,
  provider,
  error,
  onChange,
}: {
  readonly form: ProviderForm;
  readonly vendor: VendorInfo | undefined;
  readonly provider: ProviderDetails | undefined;
  readonly error: CommandError | undefined;
  readonly onChange: (changes: Partial<ProviderForm>) => void;
}) {
  const text = (name: keyof ProviderForm) => ({
    value: form[name],
    error,
    onChange: (value: string) => onChange({ [name]: value }),
  });
  return (
    <>
      <SelectField
        label="Credential"
        path="auth.kind"
        error={error}
        value={form.authKind}
        options={AUTH_KINDS.map((value) => ({ value, label: AUTH_LABELS[value] }))}
        onChange={(value) => onChange({ authKind: value as ProviderForm['authKind'] })}
      />
      {form.authKind === 'api_key' && (
        <SecretField
          label="API key"
          path="apiKey"
          placeholder={provider?.hasKey === true ? 'Stored. Enter another one to replace it' : ''}
          hint={
            vendor?.keyIsOptional === true ? 'Servers of your own often need none.' : 'Stored encrypted, never shown.'
          }
          {...text('apiKey')}
        />
      )}
      {isOAuth(form) && (
        <>
          <SelectField
            label="Authorization server"
            path="auth.server"
            error={error}
            value={form.server}
            options={Object.entries(SERVER_LABELS).map(([value, label]) => ({ value, label }))}
            onChange={(server) => onChange({ server })}
          />
          {form.server === 'azure' && (
            <TextField label="Tenant" path="auth.tenant" hint="The id or domain of one tenant." {...text('tenant')} />
          )}
          {form.server === 'generic' && (
            <TextField label="Issuer" path="auth.issuer" placeholder="https://…" {...text('issuer')} />
          )}
          {form.server !== 'openrouter' && (
            <>
              <TextField label="Client id" path="auth.clientId" {...text('clientId')} />
              <SecretField
                label="Client secret"
                path="auth.clientSecret"
                placeholder={provider?.hasClientSecret === true ? 'Stored. Enter another one to replace it' : ''}
                {...text('clientSecret')}
              />
              <TextField
                label="Scopes"
                path="auth.scopes"
                hint="Separated by spaces. Empty: those of the server."
                {...text('scopes')}
              />
            </>
          )}
        </>
      )}
    </>
  );
}
