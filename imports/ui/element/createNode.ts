/** Creates an element with attributes and children; those that are undefined are left out. */
export function createNode<N extends keyof HTMLElementTagNameMap>(
  name: N,
  attributes: Readonly<Record<string, string | undefined>> = {},
  ...children: readonly (Node | string | undefined)[]
): HTMLElementTagNameMap[N] {
  const node = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes))
    if (value !== undefined) node.setAttribute(attribute, value);
  node.append(...children.filter((child) => child !== undefined));
  return node;
}
