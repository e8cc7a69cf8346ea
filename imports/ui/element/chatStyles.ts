/** The styles of `<bolide-chat>`. Its custom properties are described in docs/guides/web-component.md. */

const DARK = `
  --background: var(--bolide-background, #16181d);
  --surface: var(--bolide-surface, #23262e);
  --text: var(--bolide-text, #eceef2);
  --muted: var(--bolide-muted, #a3a9b8);
  --border: var(--bolide-border, #3a3f4b);
  --accent: var(--bolide-accent, #8ab0ff);
  --on-accent: var(--bolide-on-accent, #10131a);
  --error: var(--bolide-error, #ff9c94);
  color-scheme: dark;`;

export const CHAT_CSS = `
:host {
  --background: var(--bolide-background, #fff);
  --surface: var(--bolide-surface, #f1f3f7);
  --text: var(--bolide-text, #1b1e25);
  --muted: var(--bolide-muted, #5b6272);
  --border: var(--bolide-border, #c9ced9);
  --accent: var(--bolide-accent, #2456c4);
  --on-accent: var(--bolide-on-accent, #fff);
  --error: var(--bolide-error, #b3261e);
  color-scheme: light;
  display: block;
  block-size: 32rem;
  max-block-size: 100dvh;
  background: var(--background);
  color: var(--text);
  font: 1rem/1.5 var(--bolide-font, system-ui, sans-serif);
}
:host([hidden]) { display: none; }
@media (prefers-color-scheme: dark) { :host(:not([theme='light'])) {${DARK} } }
:host([theme='dark']) {${DARK} }
* { box-sizing: border-box; }
section { display: flex; flex-direction: column; block-size: 100%; }
[role='log'] { flex: 1; min-block-size: 0; overflow-y: auto; overscroll-behavior: contain; padding: 0.75rem; }
ol { display: flex; flex-direction: column; gap: 0.75rem; margin: 0; padding: 0; list-style: none; }
li { min-inline-size: 0; max-inline-size: 100%; overflow-wrap: anywhere; }
li[data-role='user'] {
  align-self: flex-end;
  max-inline-size: 85%;
  padding: 0.5rem 0.75rem;
  border-radius: var(--bolide-radius, 0.75rem);
  background: var(--surface);
}
p { margin: 0; white-space: pre-wrap; }
/* Between parts: the first child, the speaker, is unseen. */
li > :nth-child(n + 3) { margin-block-start: 0.5rem; }
details, .muted { color: var(--muted); }
summary { cursor: pointer; }
.call { padding: 0.5rem 0.75rem; border: 1px solid var(--border); border-radius: var(--bolide-radius, 0.75rem); }
pre { max-block-size: 12rem; margin: 0.5rem 0; overflow: auto; white-space: pre-wrap; font-size: 0.875rem; }
progress { inline-size: 100%; accent-color: var(--accent); }
.actions { display: flex; flex-wrap: wrap; gap: 0.5rem; }
[role='alert'] { color: var(--error); }
[role='status'], [role='alert'] { padding: 0 0.75rem; }
[role='status'] { min-block-size: 1.5rem; color: var(--muted); font-size: 0.875rem; }
form { display: flex; gap: 0.5rem; align-items: flex-end; padding: 0.75rem; border-block-start: 1px solid var(--border); }
textarea {
  flex: 1;
  min-inline-size: 0;
  max-block-size: 10rem;
  padding: 0.5rem 0.75rem;
  field-sizing: content;
  resize: none;
}
textarea, button {
  min-block-size: 2.75rem;
  border: 1px solid var(--border);
  border-radius: var(--bolide-radius, 0.75rem);
  background: var(--background);
  color: inherit;
  font: inherit;
}
::placeholder { color: var(--muted); opacity: 1; }
button { padding: 0 0.9rem; cursor: pointer; }
button.primary { border-color: transparent; background: var(--accent); color: var(--on-accent); }
button:disabled { opacity: 0.6; cursor: default; }
[hidden] { display: none !important; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.unseen { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`;
