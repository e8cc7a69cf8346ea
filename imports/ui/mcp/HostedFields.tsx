/** Whether vendors call an MCP server themselves, and what they are given for it, in its form. */
import type { SignInFieldsProps } from './SignInFields';

export function HostedFields({ values, edited, onChange }: Omit<SignInFieldsProps, 'command'>) {
  const storesHeaders = (edited?.headerNames ?? []).length > 0 && !values.clearsSecrets;
  const hasHeaders = values.secrets.trim() !== '' || storesHeaders;
  return (
    <>
      <label className="check-field">
        <input
          type="checkbox"
          checked={values.hosted}
          onChange={({ target }) => onChange({ hosted: target.checked })}
        />
        Called by vendors that can (OpenAI, Azure OpenAI, Anthropic, xAI)
      </label>
      {values.hosted && (
        <p className="form-hint">
          {values.accounts === 'none'
            ? 'The vendor connects to the URL. Calls that need an approval are made by Bolide.'
            : 'Bolide calls this server all the same: tokens of accounts are never handed to a vendor.'}
        </p>
      )}
      {values.hosted && hasHeaders && values.accounts === 'none' && (
        <>
          <label className="check-field">
            <input
              type="checkbox"
              checked={values.shareHeaders}
              onChange={({ target }) => onChange({ shareHeaders: target.checked })}
            />
            Hand the headers to the vendor
          </label>
          <p className="form-hint">
            {values.shareHeaders
              ? 'The vendor receives the values of all headers, tokens included, with each request.'
              : 'Without them, no vendor calls this server.'}
          </p>
        </>
      )}
    </>
  );
}
