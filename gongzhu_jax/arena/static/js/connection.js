// The WebSocket: says hello, comes back by itself, and matches answers to questions.

const PROTOCOL = 1;
const LONGEST_WAIT = 10_000;

export class Connection {
  #socket = null;
  #name;
  #next = 1;
  #waiting = new Map();
  #delay = 500;
  #closed = false;

  /** `onMessage(message)` for what comes unasked, `onState(open, welcome)` when it comes or goes. */
  constructor(name, onMessage, onState) {
    this.#name = name;
    this.onMessage = onMessage;
    this.onState = onState;
    this.#open();
  }

  close() {
    this.#closed = true;
    this.#socket.close();
  }

  tell(type, fields = {}) {
    if (this.#socket.readyState === WebSocket.OPEN) {
      this.#socket.send(JSON.stringify({ type, ...fields }));
    }
  }

  /** Resolves to the answer, or throws an Error with the server's `code`. */
  ask(type, fields = {}) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.tell(type, { ...fields, id });
    });
  }

  #open() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/ws`);
    this.#socket = socket;
    socket.onopen = () => this.#hello();
    socket.onmessage = (event) => this.#receive(JSON.parse(event.data));
    socket.onclose = () => this.#lost();
  }

  async #hello() {
    try {
      const welcome = await this.ask("hello", { protocol: PROTOCOL, name: this.#name });
      this.#delay = 500;
      this.onState(true, welcome);
    } catch (error) {
      this.#closed = true;
      this.onState(false, null, error);
    }
  }

  #receive(message) {
    const waiting = this.#waiting.get(message.id);
    if (!waiting) {
      this.onMessage(message);
      return;
    }
    this.#waiting.delete(message.id);
    if (message.type === "error") {
      waiting.reject(Object.assign(new Error(message.message), { code: message.code }));
    } else {
      waiting.resolve(message);
    }
  }

  #lost() {
    for (const { reject } of this.#waiting.values()) {
      reject(Object.assign(new Error("the connection has ended"), { code: "gone" }));
    }
    this.#waiting.clear();
    if (this.#closed) return;
    this.onState(false, null);
    setTimeout(() => this.#open(), this.#delay);
    this.#delay = Math.min(2 * this.#delay, LONGEST_WAIT);
  }
}
