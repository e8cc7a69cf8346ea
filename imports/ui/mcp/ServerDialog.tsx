/** Adds or changes an MCP server, which can be tried out before it is saved. */
import { useState } from 'react';
import type { McpServerTest, McpServerView } from '../../business/mcp/domain/McpViews';
import { FormDialog } from '../components/form/FormDialog';
import { SelectField, TextAreaField, TextField } from '../components/form/fields';
import { useCommand } from '../components/useCommand';
import { pluralize } from '../format/format';
import { useData } from '../hooks/BolideProvider';
import { HostedFields } from './HostedFields';
import { SignInFields } from './SignInFields';
import { fieldsOfServer, valuesOf } from './serverValues';
import type { ServerValues } from './serverValues';

const KINDS = [
  { value: 'url', label: 'Over HTTP' },
  { value: 'command', label: 'A program on the server' },
];

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
        <TextField
          label="Name"
          path="name"
          error={command.error}
          hint="Letters, digits, _ and -. Tools’ names begin with it."
          value={values.name}
          onChange={(name) => set({ name })}
        />
      )}
      <SelectField
        label="Kind"
        path="kind"
        error={command.error}
        value={values.kind}
        options={KINDS}
        onChange={(kind) => set({ kind: kind === 'command' ? 'command' : 'url' })}
      />
      {isUrl ? (
        <TextField label="URL" path="url" error={command.error} value={values.url} onChange={(url) => set({ url })} />
      ) : (
        <>
          <TextField
            label="Program"
            path="command"
            error={command.error}
            hint="Runs with the rights of the server, if the operator permits it."
            value={values.command}
            onChange={(name) => set({ command: name })}
          />
          <TextAreaField
            label="Arguments"
            path="args"
            error={command.error}
            hint="One per line. They are no place for secrets."
            isCode
            value={values.args}
            onChange={(args) => set({ args })}
          />
        </>
      )}
      <SecretFields values={values} edited={edited} command={command} onChange={set} />
      {isUrl && <SignInFields values={values} edited={edited} command={command} onChange={set} />}
      {isUrl && <HostedFields values={values} edited={edited} onChange={set} />}
      <TextAreaField
        label="Tools"
        path="allow"
        error={command.error}
        hint="The server’s names, one per line, * for any characters. Empty: all. Each needs your approval."
        isCode
        value={values.allow}
        onChange={(allow) => set({ allow })}
      />
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
      <TextAreaField
        label={isUrl ? 'Headers' : 'Variables'}
        path={isUrl ? 'headers' : 'env'}
        error={error}
        hint={
          stored.length === 0
            ? `One per line (${isUrl ? 'authorization: Bearer …' : 'NAME=value'}). They are stored sealed.`
            : `Stored: ${stored.join(', ')}. Empty keeps them, what you enter replaces them all.`
        }
        isCode
        value={values.secrets}
        disabled={values.clearsSecrets}
        onChange={(secrets) => onChange({ secrets })}
      />
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
