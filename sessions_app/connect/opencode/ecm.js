// ECM for OpenCode: tells an ECM server what each call used, and adds what the server answers.
//
// Put it into .opencode/plugin/ or ~/.config/opencode/plugin/. Address and key: ECM_URL and ECM_KEY, else
// ~/.ecm/config.json. What was said stays here: ids, times, models, counts and sizes leave this machine, no prompt, no
// answer, no tool input or output, no path. It fails open: whatever the server does, the session goes on.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { basename, join } from "node:path"

const HOME = process.env.ECM_HOME || join(homedir(), ".ecm")
const KEPT = join(HOME, "opencode", "pins.json")
// So long the host may be kept waiting, and so many events are kept while the server is away; the rest is in the
// host's own store, and the import finds it.
const WAIT_MS = 300
const PATIENCE_MS = 5000
const MOST_KEPT = 500

const load = (path) => {
  try {
    return JSON.parse(readFileSync(path, "utf8"))
  } catch {
    return {}
  }
}
const config = () => {
  const kept = process.env.ECM_URL ? {} : load(HOME + "/config.json")
  const off = (kept.off || []).includes("opencode")
  return { url: off ? "" : String(process.env.ECM_URL || kept.url || "").replace(/\/$/, ""), key: process.env.ECM_KEY || kept.key || "" }
}

// ── Reduction ──

const pick = (from, names) => Object.fromEntries(names.filter((n) => from?.[n] !== undefined).map((n) => [n, from[n]]))
const bytes = (value) => ({ "~bytes": value == null ? 0 : Buffer.byteLength(typeof value === "string" ? value : JSON.stringify(value)) })

const message = (info) => ({
  ...pick(info, ["id", "sessionID", "parentID", "role", "modelID", "providerID", "mode", "agent", "cost", "finish", "time", "tokens"]),
  ...(info.summary === true && { summary: true }),
  ...(info.error && { error: pick(info.error, ["name"]) }),
})
const part = (given) => ({
  ...pick(given, ["id", "sessionID", "messageID", "type", "tool", "auto", "tokens", "cost"]),
  ...(given.state && {
    state: { ...pick(given.state, ["status", "time"]), input: bytes(given.state.input), output: bytes(given.state.output ?? given.state.error) },
  }),
})
const header = (info) => ({
  ...pick(info, ["id", "parentID", "version", "agent"]),
  directory: basename(info.directory || ""),
  time: pick(info.time, ["created"]),
})

export const ECM = async ({ client, directory }) => {
  const { url, key } = config()
  if (!url) return {}
  const project = basename(directory || "")
  const sessions = new Map()
  const steps = new Map()
  let waiting = []
  let pins = load(KEPT)

  const call = (path, wait, body) =>
    fetch(url + path, {
      method: body ? "POST" : "GET",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(wait),
    })

  // ── Sessions: a subagent's names its parent; what it used belongs to the session at the root. ──

  const session = async (id) => {
    if (!id) return undefined
    if (!sessions.has(id)) {
      const found = await client.session.get({ path: { id } }).catch(() => undefined)
      sessions.set(id, found?.data ? header(found.data) : { id })
    }
    const own = sessions.get(id)
    if (own.parentID && !own.rootID) {
      const parent = await session(own.parentID)
      own.rootID = parent?.rootID || own.parentID
    }
    return own
  }

  // ── Sending: in order, one delivery at a time; what failed goes with the next. ──

  let sending = Promise.resolve()
  const send = (wait) => {
    sending = sending.then(async () => {
      const load = waiting.splice(0, 50)
      if (!load.length) return
      let answer
      try {
        const told = await call("/api/v1/hooks/opencode", wait, load.map(({ heard, ...record }) => record))
        // What the server cannot take it will not take the second time either.
        if (!told.ok && (told.status >= 500 || told.status === 429)) throw new Error(String(told.status))
        answer = await told.json()
      } catch {
        waiting = [...load.map(({ waits, heard, ...record }) => record), ...waiting].slice(-MOST_KEPT)
      }
      for (const record of load) record.heard?.(answer)
    })
    return sending
  }
  const note = async (type, id, properties, sessionID, more) => {
    const told = await session(sessionID)
    waiting.push({ received_at: Date.now() / 1000, payload: { type, ...(id && { id }), session: told, properties }, ...more })
    if (waiting.length > MOST_KEPT) waiting.shift()
  }
  // The answer to an event, if it comes in time; whichever delivery takes the event along.
  const ask = async (type, id, properties, sessionID) => {
    let heard
    const answered = new Promise((resolve) => (heard = resolve))
    const late = new Promise((resolve) => setTimeout(resolve, WAIT_MS))
    await note(type, `${type}:${id}`, properties, sessionID, { waits: true, heard })
    send(WAIT_MS)
    const answer = await Promise.race([answered, late])
    if (typeof answer?.to_human === "string" && answer.to_human) {
      const body = { message: answer.to_human, variant: "info" }
      Promise.resolve(client.tui?.showToast({ body })).catch(() => undefined)
    }
    return typeof answer?.text === "string" ? answer.text : ""
  }

  // ── Pins: what has to survive a compaction, as the server says, or as it said last. ──

  const renewPins = async (sessionID) => {
    try {
      const query = new URLSearchParams({ host: "opencode", project, session: sessionID })
      const answer = await call(`/api/v1/pins/live?${query}`, WAIT_MS)
      if (!answer.ok) return
      pins = pick(await answer.json(), ["digest", "restore_text", "before_text"])
      mkdirSync(join(HOME, "opencode"), { recursive: true, mode: 0o700 })
      writeFileSync(KEPT, JSON.stringify(pins), { mode: 0o600 })
    } catch {}
  }

  const seen = async ({ type, id, properties }) => {
    const info = properties?.info
    if (type === "session.created" || type === "session.updated") {
      const known = sessions.get(info.id)
      sessions.set(info.id, { ...known, ...header(info) })
      if (type === "session.created") await note(type, id, { sessionID: info.id }, info.id)
    } else if (type === "message.updated" && info.role === "assistant" && info.time?.completed) {
      const parts = steps.get(info.id) || []
      steps.delete(info.id)
      await note(type, id, { info: message(info), parts, sessionID: info.sessionID }, info.sessionID)
      send(PATIENCE_MS)
    } else if (type === "message.part.updated") {
      const given = properties.part
      if (given.type === "step-finish") {
        const others = (steps.get(given.messageID) || []).filter((p) => p.id !== given.id)
        steps.set(given.messageID, [...others, part(given)])
      } else if (given.type === "compaction" || (given.type === "tool" && ["completed", "error"].includes(given.state?.status))) {
        await note(type, id, { part: part(given), sessionID: given.sessionID }, given.sessionID)
      }
    } else if (type === "session.compacted" || type === "session.idle") {
      await note(type, id, pick(properties, ["sessionID"]), properties.sessionID)
      await send(PATIENCE_MS)
    } else if (type === "session.error" && properties?.sessionID) {
      await note(type, id, { sessionID: properties.sessionID, error: pick(properties.error, ["name"]) }, properties.sessionID)
    }
  }

  const open = (hook) => async (...given) => {
    try {
      return await hook(...given)
    } catch {
      return undefined
    }
  }

  return {
    event: open(({ event }) => seen(event)),
    "chat.params": open(async (input) => {
      const model = { id: input.model?.id, limit: pick(input.model?.limit, ["context"]) }
      const agent = typeof input.agent === "string" ? input.agent : input.agent?.name
      await note("chat.params", `call-${crypto.randomUUID()}`, { sessionID: input.sessionID, agent, model }, input.sessionID)
    }),
    // A part of the newest prompt: the prefix before it stays as it was.
    "chat.message": open(async (input, output) => {
      const properties = { sessionID: input.sessionID, messageID: output.message.id }
      const text = await ask("chat.message", output.message.id, properties, input.sessionID)
      const last = output.parts.at(-1)
      if (text && last) {
        output.parts.push({ id: `${last.id}z`, sessionID: input.sessionID, messageID: output.message.id, type: "text", text, synthetic: true })
      }
    }),
    "tool.execute.after": open(async (input, output) => {
      const text = await ask("tool.execute.after", input.callID, { sessionID: input.sessionID, tool: input.tool }, input.sessionID)
      if (text && typeof output.output === "string") output.output += `\n\n${text}`
    }),
    "experimental.session.compacting": open(async (input, output) => {
      await renewPins(input.sessionID)
      if (pins.before_text) output.context.push(pins.before_text)
    }),
    // The request that a compaction leaves behind is where the pins come back: the same words in every later call.
    "experimental.chat.messages.transform": open(async (_input, output) => {
      const asked = output.messages.findLast((m) => m.parts.some((p) => p.type === "compaction"))
      if (!asked) return
      if (!pins.restore_text) await renewPins(asked.info.sessionID)
      if (!pins.restore_text) return
      asked.parts.push({ id: `${asked.parts.at(-1).id}z`, sessionID: asked.info.sessionID, messageID: asked.info.id, type: "text", text: pins.restore_text, synthetic: true })
    }),
  }
}
