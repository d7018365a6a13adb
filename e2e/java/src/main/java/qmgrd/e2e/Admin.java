package qmgrd.e2e;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The queue manager as its operator sees it, by the programs that PATH leads to. */
final class Admin {
    private final Target target;

    Admin(Target t) {
        target = t;
    }

    /** Runs a program and gives what it wrote; another exit code than want is an error. */
    static String run(int want, String input, String... command) throws IOException, InterruptedException {
        return run(null, want, input, command);
    }

    /** What the queue manager answers on its local socket; curl runs beside that, as an address takes no long names. */
    static String local(String path) throws IOException, InterruptedException {
        File socket = new File(System.getProperty("admin.socket"));
        return run(socket.getParentFile(), 0, "", "curl", "-sS", "--fail", "--noproxy", "*", "--unix-socket", socket.getName(),
                "http://localhost" + path);
    }

    private static String run(File directory, int want, String input, String... command) throws IOException, InterruptedException {
        Process p = new ProcessBuilder(command).directory(directory).redirectErrorStream(true).start();
        p.getOutputStream().write(input.getBytes(StandardCharsets.UTF_8));
        p.getOutputStream().close();
        String out = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int code = p.waitFor();
        if (code != want) {
            throw new IOException(String.join(" ", command) + ": exit code " + code + ", want " + want + "\n" + out);
        }
        return out;
    }

    String name() {
        return target.qmgr;
    }

    /** Runs commands, one each; all of them must succeed. */
    String mqsc(String... commands) throws IOException, InterruptedException {
        return run(0, String.join("\n", commands) + "\n", "runmqsc", target.qmgr);
    }

    /** The value of one attribute in what a DISPLAY command answers. */
    String attribute(String display, String name) throws IOException, InterruptedException {
        String out = mqsc(display + " " + name);
        Matcher m = Pattern.compile("(?<=\\s)" + name + "\\((.*?)\\)(?=\\s)").matcher(out.substring(out.indexOf("AMQ")));
        Checks.isTrue(display + " answers " + name + ": " + out, m.find());
        return m.group(1).trim();
    }

    int depth(String queue) throws IOException, InterruptedException {
        return Integer.parseInt(attribute("DISPLAY QLOCAL('" + queue + "')", "CURDEPTH"));
    }

    /** Makes the queue anew, and empty. */
    void queue(String name, String attributes) throws IOException, InterruptedException {
        mqsc("DEFINE QLOCAL(" + name + ") REPLACE " + attributes, "CLEAR QLOCAL(" + name + ")");
    }

    /** Ends the queue manager as `qmgrd stop` with these flags does, and starts it again on the same port. */
    void restart(String... flags) throws IOException, InterruptedException {
        List<String> stop = new ArrayList<>(List.of("qmgrd", "stop", target.qmgr, "-w"));
        stop.addAll(List.of(flags));
        run(0, "", stop.toArray(new String[0]));
        start();
    }

    /** Ends the queue manager's process at once, and starts it again. */
    void killAndStart() throws IOException, InterruptedException {
        Matcher m = Pattern.compile("\"pid\":(\\d+)").matcher(run(0, "", "qmgrd", "status", target.qmgr, "--json"));
        Checks.isTrue("status names a process", m.find());
        ProcessHandle p = ProcessHandle.of(Long.parseLong(m.group(1))).orElseThrow();
        p.destroyForcibly();
        p.onExit().join();
        start();
    }

    private void start() throws IOException, InterruptedException {
        run(0, "", "qmgrd", "start", target.qmgr, "--dev", "--listen", target.host + ":" + target.port, "--detach");
    }
}
