/** Adds or changes an MCP server, which can be tried out before it is saved. */
import { useState } from 'react';
import type { McpServerTest, McpServerView } from '../../business/mcp/domain/McpViews';
import { FormDialog } from '../components/form/FormDialog';
import { FormField } from '../components/form/FormField';
import { useCommand } from '../components/useCommand';
import { pluralize } from '../format/format';
import { useData } from '../hooks/BolideProvider';
import { Line, Lines } from './textInputs';
import { HostedFields } from './HostedFields';
import { SignInFields } from './SignInFields';
import { fieldsOfServer, valuesOf } from './serverValues';
import type { ServerValues } from './serverValues';

const SHOWN_FIELDS = [
  ...['name', 'url', 'command', 'args', 'headers', 'env', 'allow'],
  ...['oauth.accounts', 'oauth.clientId', 'oauth.issuer', 'clientSecret'],
];

/** @param edited undefined: a new server */
export function ServerDialog({
  edited,
  onClose,
}: {
  readonly edited: McpServerView | undefined;
  readonly onClose: () => void;
}) {
  const data = useData();
  const command = useCommand();
  const [values, setValues] = useState<ServerValues>(() => valuesOf(edited));
  const [tested, setTested] = useState<McpServerTest>();
  const set = (change: Partial<ServerValues>): void => setValues({ ...values, ...change });
  const isUrl = values.kind === 'url';
  const isIncomplete = values.name.trim() === '' || (isUrl ? values.url : values.command).trim() === '';
  const test = (): void => {
    setTested(undefined);
    command.run(() => data.call('ai.mcpServers.test', fieldsOfServer(values, edited)), setTested);
  };
  return (
    <FormDialog
      title={edited === undefined ? 'Add an MCP server' : `MCP server ${edited.name}`}
      command={command}
      fields={SHOWN_FIELDS}
      action="Save server"
      isIncomplete={isIncomplete}
      buttons={
        <button type="button" className="button" disabled={command.isBusy || isIncomplete} onClick={test}>
          Test
        </button>
      }
      onSubmit={() => command.run(() => data.call('ai.mcpServers.save', fieldsOfServer(values, edited)), onClose)}
      onClose={onClose}
    >
      {edited === undefined && (
        <FormField
          label="Name"
          path="name"
          error={command.error}
          hint="Letters, digits, _ and -. Tools’ names begin with it."
        >
          {(attributes) => <Line {...attributes} value={values.name} onChange={(name) => set({ name })} />}
        </FormField>
      )}
      <FormField label="Kind" path="kind" error={command.error}>
        {(attributes) => (
          <select
            {...attributes}
            value={values.kind}
            onChange={(event) => set({ kind: event.target.value === 'command' ? 'command' : 'url' })}
          >
            <option value="url">Over HTTP</option>
            <option value="command">A program on the server</option>
          </select>
        )}
      </FormField>
      {isUrl ? (
        <FormField label="URL" path="url" error={command.error}>
          {(attributes) => <Line {...attributes} value={values.url} onChange={(url) => set({ url })} />}
        </FormField>
      ) : (
        <>
          <FormField
            label="Program"
            path="command"
            error={command.error}
            hint="Runs with the rights of the server, if the operator permits it."
          >
            {(attributes) => (
              <Line {...attributes} value={values.command} onChange={(name) => set({ command: name })} />
            )}
          </FormField>
          <FormField
            label="Arguments"
            path="args"
            error={command.error}
            hint="One per line. They are no place for secrets."
          >
            {(attributes) => <Lines {...attributes} value={values.args} onChange={(args) => set({ args })} />}
          </FormField>
        </>
      )}
      <SecretFields values={values} edited={edited} command={command} onChange={set} />
      {isUrl && <SignInFields values={values} edited={edited} command={command} onChange={set} />}
      {isUrl && <HostedFields values={values} edited={edited} onChange={set} />}
      <FormField
        label="Tools"
        path="allow"
        error={command.error}
        hint="The server’s names, one per line, * for any characters. Empty: all. Each needs your approval."
      >
        {(attributes) => <Lines {...attributes} value={values.allow} onChange={(allow) => set({ allow })} />}
      </FormField>
      <label className="check-field">
        <input type="checkbox" checked={values.enabled} onChange={(event) => set({ enabled: event.target.checked })} />
        Connected
      </label>
      {tested !== undefined && (
        <p role="status">
          It answers, with {pluralize(tested.tools.length, 'tool')}
          {tested.tools.length > 0 && `: ${tested.tools.map(({ name }) => name).join(', ')}`}.
        </p>
      )}
    </FormDialog>
  );
}

function SecretFields({
  values,
  edited,
  command: { error },
  onChange,
}: {
  readonly values: ServerValues;
  readonly edited: McpServerView | undefined;
  readonly command: Pick<ReturnType<typeof useCommand>, 'error'>;
  readonly onChange: (change: Partial<ServerValues>) => void;
}) {
  const isUrl = values.kind === 'url';
  const stored = (isUrl ? edited?.headerNames : edited?.envNames) ?? [];
  return (
    <>
      <FormField
        label={isUrl ? 'Headers' : 'Variables'}
        path={isUrl ? 'headers' : 'env'}
        error={error}
        hint={
          stored.length === 0
            ? `One per line (${isUrl ? 'authorization: Bearer …' : 'NAME=value'}). They are stored sealed.`
            : `Stored: ${stored.join(', ')}. Empty keeps them, what you enter replaces them all.`
        }
      >
        {(attributes) => (
          <Lines
            {...attributes}
            value={values.secrets}
            isDisabled={values.clearsSecrets}
            onChange={(secrets) => onChange({ secrets })}
          />
        )}
      </FormField>
      {stored.length > 0 && (
        <label className="check-field">
          <input
            type="checkbox"
            checked={values.clearsSecrets}
            onChange={(event) => onChange({ clearsSecrets: event.target.checked })}
          />
          Remove the stored ones
        </label>
      )}
    </>
  );
}
